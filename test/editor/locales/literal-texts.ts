import { Visitor, parseSync } from 'oxc-parser';
import type { Node, TemplateLiteral } from 'oxc-parser';

/** Words that are the same in every language, or that no user reads. */
const KNOWN = new Set([
  'Ctrl',
  'Shift',
  'Space',
  'Esc',
  'Control',
  'Meta',
  'Enter',
  'Bearer',
  'POST',
  'GET',
  'PUT',
  // Names of products.
  'JavaScript',
  'TypeScript',
  'AssemblyScript',
  'Python',
]);

/** Attributes whose text is shown or read out. */
const ATTRIBUTES = [
  'alt',
  'aria-description',
  'aria-label',
  'aria-placeholder',
  'aria-roledescription',
  'aria-valuetext',
  'label',
  'placeholder',
  'title',
];

/**
 * Properties whose text is shown or read out: what an element's text is, what reflects the attributes above, and what the
 * editor's own views and dialogs are given.
 */
const PROPERTIES = new Set([
  'textContent',
  'innerText',
  'innerHTML',
  'alt',
  'ariaDescription',
  'ariaLabel',
  'ariaPlaceholder',
  'ariaRoleDescription',
  'ariaValueText',
  'label',
  'closeLabel',
  'text',
  'placeholder',
  'title',
]);

/** Methods that put text into an element: their last argument, or all. */
const METHODS = new Set(['append', 'prepend', 'replaceChildren', 'before', 'after', 'replaceWith']);

/** Whether a text has a word in it, and not signs, a single letter, or a colour alone. */
const hasWord = (text: string) =>
  /\p{L}{2,}/u.test(text) && !KNOWN.has(text.trim()) && !/^#[\da-f]+$/i.test(text);

/** Whether a text looks like one that a user would read: several words, the first of which begins large. */
const isProse = (text: string) => {
  const trimmed = text.trim();
  return (
    / /.test(trimmed) &&
    /^[A-Z][a-z]+(?:[ ,.:…’'-]+[A-Za-z’']+)*[.:…?!]?$/.test(trimmed) &&
    !trimmed.split(/[ ,.:…-]+/).every((word) => !word || KNOWN.has(word) || !/^[A-Z]/.test(word))
  );
};

/** The texts that an expression can be, as far as they are written in it. */
function textsOf(node: Node | null | undefined): string[] {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [];
    case 'TemplateLiteral':
      return [node.quasis.map(({ value }) => value.raw).join('…')];
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)];
    case 'LogicalExpression':
      return [...textsOf(node.left), ...textsOf(node.right)];
    case 'BinaryExpression':
      return node.operator === '+' ? [...textsOf(node.left), ...textsOf(node.right)] : [];
    case 'ParenthesizedExpression':
      return textsOf(node.expression);
    default:
      return [];
  }
}

/** What stands between the tags of a template, and in attributes that are read out; also what is put there. */
function textsOfTemplate({ quasis, expressions }: TemplateLiteral): string[] {
  const whole = quasis.map(({ value }) => value.raw).join('\u0000');
  const attributes = [
    ...whole.matchAll(new RegExp(`[\\s.](?:${ATTRIBUTES.join('|')})=(?:"([^"]*)"|'([^']*)')`, 'g')),
  ].map(([, double, single]) => double ?? single ?? '');
  const between = whole.replace(/<!--.*?-->/gs, '').split(/<[^>]*>/);
  const written = [...between, ...attributes].flatMap((text) => text.split('\u0000'));

  let before = '';
  const put = expressions.flatMap((expression, i) => {
    before += quasis[i]?.value.raw ?? '';
    const isInTag = before.lastIndexOf('<') > before.lastIndexOf('>');
    const [, attribute = ''] = /[\s.]([\w-]+)=(?:"[^"]*|'[^']*|[^\s"']*)$/.exec(before) ?? [];
    before += '\u0000';
    return !isInTag || ATTRIBUTES.includes(attribute) || PROPERTIES.has(attribute) ? textsOf(expression) : [];
  });
  return [...written, ...put].map((text) => text.trim()).filter(hasWord);
}

/**
 * The texts for users that are written in a module of the editor, where no other language can have its own. Texts of errors
 * that are thrown are none: who reads the console reads those.
 * @param file its name, for the parser
 */
export function literalTexts(file: string, source: string): string[] {
  const found: string[] = [];
  const passed = new Set<unknown>();
  const show = (node: Node | null | undefined) => {
    found.push(...textsOf(node).filter(hasWord));
    passed.add(node);
  };
  new Visitor({
    NewExpression: ({ callee, arguments: args }) => {
      if (callee.type === 'Identifier' && callee.name.endsWith('Error'))
        for (const one of args) passed.add(one);
    },
    CallExpression: ({ callee, arguments: args }) => {
      if (callee.type === 'Super') for (const one of args) passed.add(one);
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      const { name } = callee.property;
      const [first, second] = args;
      if (name === 'setAttribute' && textsOf(first).some((one) => ATTRIBUTES.includes(one))) show(second);
      else if (METHODS.has(name)) for (const one of args) show(one);
    },
    AssignmentExpression: ({ left, right }) => {
      if (
        left.type === 'MemberExpression' &&
        left.property.type === 'Identifier' &&
        PROPERTIES.has(left.property.name)
      )
        show(right);
    },
    // What a view or a dialog is given: `{ label: 'Close' }`.
    Property: ({ key, value }) => {
      const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? `${key.value}` : '';
      if (PROPERTIES.has(name)) show(value);
    },
    TaggedTemplateExpression: ({ tag, quasi }) => {
      passed.add(quasi);
      if (tag.type === 'Identifier' && /^(?:html|svg)$/.test(tag.name)) found.push(...textsOfTemplate(quasi));
    },
    // A text with something put into it: its own words are what is left when that is taken out.
    TemplateLiteral: (node) => {
      const [trimmed = ''] = textsOf(node);
      const [, first = ''] = /(?:^|\s)([A-Z][a-z]+) +[a-z…]/.exec(trimmed) ?? [];
      if (first !== '' && !KNOWN.has(first) && !passed.has(node)) found.push(trimmed);
    },
    Literal: (node) => {
      if (typeof node.value === 'string' && isProse(node.value) && !passed.has(node)) found.push(node.value);
    },
  }).visit(parseSync(file, source).program);
  return found;
}
