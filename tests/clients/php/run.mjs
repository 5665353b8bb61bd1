// Run a PHP program in WebAssembly: node run.mjs PROGRAM REQUESTS KEYS
//
// The program finds the files as its arguments.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

import { getPHPLoaderModule } from '@php-wasm/node-8-4';
import { loadPHPRuntime, PHP } from '@php-wasm/universal';

const php = new PHP(await loadPHPRuntime(await getPHPLoaderModule(), { processId: 1 }));
const paths = [];
for (const file of process.argv.slice(2, 5)) {
  paths.push(`/tmp/${basename(file)}`);
  php.writeFile(paths.at(-1), await readFile(file));
}
const response = await php.cli(['php', ...paths]);
process.stdout.write(await response.stdoutText);
process.stderr.write(await response.stderrText);
process.exit(await response.exitCode);
