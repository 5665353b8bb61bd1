// What TypeScript's compiler says of programs that readers paste. Prints a line for each problem.
//
// `right NAMES -- TYPES`: names that nothing defines in the files before `--`, and all that `strict`
// finds in those behind it. `same TYPED PLAIN …`: programs in TypeScript that aren't those in
// JavaScript, apart from types.

import { readFileSync } from 'node:fs';

import ts from 'typescript';

const TYPES = new URL('../typescript/', import.meta.url).pathname;
const [, , command, ...files] = process.argv;
const UNDEFINED = new Set([2304, 2503, 2552, 2580, 2584, 2663, 18004]);
const OPTIONS = {
  allowJs: true,
  checkJs: true,
  jsx: ts.JsxEmit.Preserve,
  // A program without imports is a module too: it defines no name for the others.
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  skipLibCheck: true,
  strict: true,
  target: ts.ScriptTarget.ES2023,
  types: [],
};

function problems() {
  const named = files.slice(0, files.indexOf('--'));
  const typed = files.slice(files.indexOf('--') + 1);
  const program = ts.createProgram(
    [...named, ...typed, ...['node', 'next'].map((name) => `${TYPES}${name}.d.ts`)],
    OPTIONS,
  );
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file, code }) => {
      const isNamed = named.includes(file?.fileName) && UNDEFINED.has(code);
      return isNamed || typed.includes(file?.fileName);
    })
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

function differences() {
  const pairs = files.flatMap((typed, at) => (at % 2 ? [] : [[typed, files[at + 1]]]));
  return pairs
    .filter(([typed, plain]) => withoutTypes(typed) !== withoutTypes(plain))
    .map(([typed, plain]) => `${typed} differs:\n${withoutTypes(typed)}\n${withoutTypes(plain)}`);
}

const found = { right: problems, same: differences }[command]();
if (found.length) console.log(found.join('\n'));
