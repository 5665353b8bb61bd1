// next/server: a request and a response with cookies, as the proxy gets and returns them.

import { RequestCookies, ResponseCookies } from '@edge-runtime/cookies';

export class NextRequest extends Request {
  cookies = new RequestCookies(this.headers);
}

export class NextResponse extends Response {
  cookies = new ResponseCookies(this.headers);
  forwarded = null;

  static next({ request } = {}) {
    const response = new NextResponse(null);
    response.forwarded = request?.headers ?? null;
    return response;
  }
}
