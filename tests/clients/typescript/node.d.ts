// What the programs use of Node, without its package of types.
declare const process: { env: Record<string, string | undefined>; argv: string[] };
declare const Buffer: {
  from(text: string, encoding: string): { toString(): string };
  concat(chunks: readonly Uint8Array[]): Uint8Array;
};
