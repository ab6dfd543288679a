import type { Server } from 'node:http'
import { newId } from '@backstop/contracts'
import { refuseInvalidHttp as answerBadHttp, type InvalidHttp, PROBLEM_TYPE, problem } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import { SECURITY_HEADERS } from './security-headers.ts'

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
