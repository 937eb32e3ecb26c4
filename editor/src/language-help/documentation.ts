import DOMPurify from 'dompurify';

/** The HTML that documentation may have. It comes from comments in the source, which another author may have written. */
const allowed = {
  ALLOWED_TAGS:
    'p br hr pre code em strong del ul ol li blockquote span h1 h2 h3 h4 h5 h6 table thead tbody tr th td'.split(
      ' ',
    ),
  // For the highlighting of code.
  ALLOWED_ATTR: ['class'],
};

/**
 * Removes from documentation all HTML that could run, load something or link elsewhere. Where the browser has trusted types, the
 * result is one, because the page's policy demands it and CodeMirror's client assigns the result to `innerHTML`.
 */
export const sanitizeDocumentation = (html: string): string =>
  DOMPurify.sanitize(html, {
    ...allowed,
    RETURN_TRUSTED_TYPE: 'trustedTypes' in globalThis,
  });
