import { randomBytes } from 'node:crypto'
import type { Clock } from '@backstop/kit/clock'
import type { Request, RequestHandler, Response } from 'express'
import { endAnswer } from '../http/answer-problem.ts'
import { type BuiltFile, createConsoleReader, type Encoding } from './built-files.ts'

/** The places in the built page that are filled in. */
const NONCE_MARK = '__STYLE_NONCE__'
const OIDC_MARK = '__ORGANISATION_SIGN_IN__'
/** The folder of the build in which every file name contains a hash of the content. */
const HASHED = '/assets/'
const NOT_BUILT = 'The console is not built: run `npm run console` in the clone of Backstop, then reload this page.\n'

export interface ConsoleOptions {
  /** The folder of the built console. */
  readonly folder: string
  /** Whether the sign-in page offers OpenID Connect. */
  readonly hasOidc: boolean
  readonly clock: Clock
}

/**
 * Serves the console to browsers: its files, and its page for every other path outside of `/v1`, because the console has its own
 * routes. A request that does not accept HTML is left to the API, so programs get problem documents for unknown paths.
 */
export function serveConsole({ folder, hasOidc, clock }: ConsoleOptions): RequestHandler {
  const readConsole = createConsoleReader(folder)
  return async (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || /^\/v1(?:\/|$)/i.test(request.path)) return next()
    const isNavigation = acceptsHtml(request)
    const built = await readConsole()
    const file = built?.files.get(request.path)
    if (file !== undefined) return sendFile(request, response, file, clock)
    if (!isNavigation || request.path.startsWith(HASHED)) return next()
    response.locals.facts.route = 'console'
    response.vary('accept')
    if (built === undefined) return endAnswer(response.status(503).type('text/plain'), NOT_BUILT, clock)
    sendPage(response, built.page.replace(OIDC_MARK, String(hasOidc)), clock)
  }
}

/** Browsers name HTML when they open a page. `*\/*` alone is sent by programs. */
function acceptsHtml(request: Request): boolean {
  return /\btext\/html\b/i.test(request.get('accept') ?? '')
}

function sendPage(response: Response, page: string, clock: Clock): void {
  const nonce = randomBytes(18).toString('base64')
  const html = Buffer.from(page.replaceAll(NONCE_MARK, nonce))
  response.status(200).set({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(nonce),
    'content-length': String(html.length),
  })
  endAnswer(response, html, clock)
}

/** Everything comes from this origin. Frames show the previews of mails, which have no rights of their own. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'none'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function sendFile(request: Request, response: Response, file: BuiltFile, clock: Clock): void {
  response.locals.facts.route = 'console-file'
  const encoding = (['br', 'gzip'] satisfies Encoding[]).find(
    name => file.compressed[name] !== undefined && request.acceptsEncodings(name) !== false,
  )
  const bytes = (encoding && file.compressed[encoding]) ?? file.bytes
  if (encoding !== undefined) response.set('content-encoding', encoding)
  const isHashed = request.path.startsWith(HASHED)
  response.vary('accept-encoding').status(200)
  response.set({
    'content-type': file.type,
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-length': String(bytes.length),
  })
  endAnswer(response, bytes, clock)
}
