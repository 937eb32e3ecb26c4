/** A style sheet of a part that is loaded later; it comes with the part. */
declare module '*.css';
