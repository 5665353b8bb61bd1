// What TypeScript's compiler says of programs that readers paste. Prints a line for each problem.
//
// `names FILES`: names in JavaScript that nothing defines. `types FILES`: all that `strict` finds.
// `same TYPED PLAIN`: whether a program in TypeScript is that in JavaScript, apart from types.

import { readFileSync } from 'node:fs';

import ts from 'typescript';

const TYPES = new URL('../typescript/', import.meta.url).pathname;
const [, , command, ...files] = process.argv;
const UNDEFINED = new Set([2304, 2503, 2552, 2580, 2584, 2663, 18004]);
const OPTIONS = {
  allowJs: true,
  checkJs: true,
  jsx: ts.JsxEmit.Preserve,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  skipLibCheck: true,
  strict: command === 'types',
  target: ts.ScriptTarget.ES2023,
  types: [],
};

function problems(isProblem) {
  const program = ts.createProgram(
    [...files, ...['node', 'next'].map((name) => `${TYPES}${name}.d.ts`)],
    OPTIONS,
  );
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file, code }) => files.includes(file?.fileName) && isProblem(code))
    .map(({ file, start, messageText }) => {
      const { line } = file.getLineAndCharacterOfPosition(start);
      const text = ts.flattenDiagnosticMessageText(messageText, ' ');
      return `${file.fileName}:${line + 1}: ${text}`;
    });
}

function withoutTypes(name) {
  const { outputText } = ts.transpileModule(readFileSync(name, 'utf8'), {
    fileName: name.replace(/\.m?js$/, '.jsx'),
    compilerOptions: {
      ...OPTIONS,
      noEmit: false,
      removeComments: true,
      verbatimModuleSyntax: true,
    },
  });
  return outputText.replaceAll(/from '(\.[^']*?)\.m?js'/g, "from '$1'");
}

const found = {
  names: () => problems((code) => UNDEFINED.has(code)),
  types: () => problems(() => true),
  same: () =>
    withoutTypes(files[0]) === withoutTypes(files[1])
      ? []
      : [`${files[0]}:\n${withoutTypes(files[0])}\n${withoutTypes(files[1])}`],
}[command]();
if (found.length) console.log(found.join('\n'));
