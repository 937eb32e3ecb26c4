import DOMPurify from 'dompurify';

/** What documentation may be made of. It comes from comments in the source, which another author may have written. */
const allowed = {
  ALLOWED_TAGS: [
    'p',
    'br',
    'hr',
    'pre',
    'code',
    'em',
    'strong',
    'del',
    'ul',
    'ol',
    'li',
    'blockquote',
    'span',
  ].concat(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td']),
  // Of the highlighting of code.
  ALLOWED_ATTR: ['class'],
};

/**
 * HTML of documentation without anything that could act, load or lead elsewhere. Where the browser knows trusted types, which
 * the page's policy asks for, it is one: CodeMirror's client hands it to the page as it is.
 */
export const sanitizeDocumentation = (html: string): string =>
  DOMPurify.sanitize(html, {
    ...allowed,
    RETURN_TRUSTED_TYPE: 'trustedTypes' in globalThis,
  });
