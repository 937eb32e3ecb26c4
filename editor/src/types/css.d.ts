/** A style sheet of a module that is loaded later; it comes with the module. */
declare module '*.css';
