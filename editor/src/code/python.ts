import { python, pythonLanguage } from '@codemirror/lang-python';
import { indentUnit } from '@codemirror/language';
import { type Extension, Prec } from '@codemirror/state';
import { pythonLibrary } from './python-completion.ts';

/** Highlighting, indentation and completion of Python. */
export const pythonSupport = (): Extension => [
  python(),
  pythonLanguage.data.of({ autocomplete: pythonLibrary }),
  Prec.high(indentUnit.of('    ')),
];
