import { renderToString } from 'react-dom/server';
import { App, type Place } from './App.tsx';

export const render = (place: Place): string => renderToString(<App place={place} />);
