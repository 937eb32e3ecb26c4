import './fresh-page.test.ts';
