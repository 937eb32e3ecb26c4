import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, type Place } from './App.tsx';

const place = Object.fromEntries(new URLSearchParams(location.search)) as unknown as Place;
const root = document.querySelector('#app');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App place={place} />
    </StrictMode>,
  );
}
