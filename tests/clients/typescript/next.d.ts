// What the programs use of Next.js and React, without their packages of 350 MB.
type Cookie = { name: string; value: string };
type Cookies = {
  get(name: string): Cookie | undefined;
  set(cookie: Cookie & { httpOnly?: boolean; sameSite?: 'lax'; expires?: Date }): void;
  delete(name: string): void;
};

declare module 'next/server' {
  export class NextRequest extends Request {
    readonly cookies: Cookies;
  }
  export class NextResponse extends Response {
    readonly cookies: Cookies;
    static next(init?: { request: NextRequest }): NextResponse;
  }
}

declare module 'next/headers' {
  export function cookies(): Promise<Cookies>;
  export function headers(): Promise<Headers>;
}

declare namespace JSX {
  interface IntrinsicElements {
    [name: string]: unknown;
  }
}
