// Resolves Next.js' two modules; all others as Node does.

const MODULES = { 'next/headers': './headers.mjs', 'next/server': './server.mjs' };

export function resolve(specifier, context, next) {
  const file = MODULES[specifier];
  if (!file) return next(specifier, context);
  return { url: new URL(file, import.meta.url).href, shortCircuit: true };
}
