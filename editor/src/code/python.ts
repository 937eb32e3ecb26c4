import { globalCompletion, localCompletionSource, pythonLanguage } from '@codemirror/lang-python';
import { indentUnit, LanguageSupport } from '@codemirror/language';
import { type Extension, Prec } from '@codemirror/state';
import { outsideImports, pythonLibrary } from './python-completion.ts';

/** Highlighting, indentation and completion of Python. */
export const pythonSupport = (): Extension => [
  new LanguageSupport(
    pythonLanguage,
    [pythonLibrary, outsideImports(localCompletionSource), outsideImports(globalCompletion)].map(
      (autocomplete) => pythonLanguage.data.of({ autocomplete }),
    ),
  ),
  Prec.high(indentUnit.of('    ')),
];
