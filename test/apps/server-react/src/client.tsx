import { StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { App, type Place } from './App.tsx';

const place = Object.fromEntries(new URLSearchParams(location.search)) as unknown as Place;
const root = document.querySelector('#app');
if (root) {
  hydrateRoot(
    root,
    <StrictMode>
      <App place={place} />
    </StrictMode>,
  );
}
