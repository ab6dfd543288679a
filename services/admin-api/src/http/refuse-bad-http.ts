import type { Server } from 'node:http'
import { newId } from '@backstop/contracts'
import { refuseInvalidHttp as answerBadHttp, type InvalidHttp, PROBLEM_TYPE, problem } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'

const DETAILS: Readonly<Record<InvalidHttp['code'], string>> = {
  invalid_request: 'The request is not valid HTTP/1.1',
  headers_too_large: 'The headers are larger than 16 KiB; send fewer or shorter headers',
  request_timeout: 'The request did not arrive completely in time; send it again without pauses',
}

/** Answers requests that Node could not parse or that did not arrive in time with a problem document. */
export function refuseInvalidHttp(server: Server, logger: Logger): void {
  answerBadHttp(server, ({ code, reason }) => {
    const requestId = newId('request')
    logger.info({ request_id: requestId, code, reason }, 'http.bad_request')
    const document = problem(code, DETAILS[code], { request_id: requestId })
    const body = JSON.stringify(document)
    const headers = {
      ...SECURITY_HEADERS,
      'content-type': PROBLEM_TYPE,
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId,
    }
    return { status: document.status, headers: Object.entries(headers).flat(), body }
  })
}

/** Sent with every answer. The API answers JSON to programs, so browsers must not frame, sniff, cache or run it. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'interest-cohort=()',
  'referrer-policy': 'no-referrer',
  // Browsers obey this header only over TLS, which ends at the proxy in front of this process.
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
