import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { listen } from '../ops/ops-server.ts'
import { type InvalidHttp, refuseInvalidHttp } from './refuse-bad-http.ts'

const STATUS = { invalid_request: 400, headers_too_large: 431, request_timeout: 408 } as const
let server: Server
let refused: InvalidHttp[] = []
afterEach(() => {
  server.closeAllConnections()
  server.close()
  refused = []
})

/** Starts a server with this handler and a short interval of checks for slow clients. */
async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  server = createServer({ requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 20 }, handle)
  refuseInvalidHttp(server, bad => {
    refused.push(bad)
    return { status: STATUS[bad.code], headers: ['content-length', '6'], body: 'sorry\n' }
  })
  await listen(server, 0, '127.0.0.1')
}

/** Sends the text and resolves with all received text when the connection ends. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(text))
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

/** Reads the request and answers when it has ended or was interrupted. */
const answerAtEnd = (request: IncomingMessage, response: ServerResponse) => {
  request.on('error', () => {})
  request.resume().on('end', () => response.end('fine\n'))
}
const POST = 'POST / HTTP/1.1\r\nHost: x\r\n'

describe('what never became a whole request', () => {
  test('is answered as the caller wants it, and the connection is closed', async () => {
    await serve(answerAtEnd)
    const answer = await exchange('hello\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsorry\n$/)
    expect(refused).toMatchObject([{ code: 'invalid_request', isInFlight: false }])
  })

  test('is distinguished from headers that are too large', async () => {
    await serve(answerAtEnd)
    expect(await exchange(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('is answered once its headers are too slow', async () => {
    await serve(answerAtEnd)
    expect(await exchange(POST)).toMatch(/^HTTP\/1\.1 408 /)
    expect(refused).toMatchObject([{ code: 'request_timeout', isInFlight: false }])
  })

  test('is closed without an answer when its client never sent a byte', async () => {
    await serve(answerAtEnd)
    expect(await exchange('')).toBe('')
    expect(refused).toMatchObject([{ code: 'request_timeout', isSilent: true }])
  })

  test('is answered also once its body is too slow', async () => {
    await serve(answerAtEnd)
    expect(await exchange(`${POST}Content-Length: 10\r\n\r\nhalf`)).toMatch(/^HTTP\/1\.1 408 /)
    expect(refused).toMatchObject([{ code: 'request_timeout', isInFlight: true }])
  })

  test('does not cut into an answer that has begun', async () => {
    await serve((request, response) => {
      request.on('error', () => {})
      response.writeHead(200, { 'content-length': '5' }).flushHeaders()
    })
    expect(await exchange(`${POST}Content-Length: 10\r\n\r\nhalf`)).not.toContain('sorry')
    expect(refused).toEqual([])
  })

  test('does not replace the answer to the complete request before it', async () => {
    await serve((_request, response) => void setTimeout(() => response.end('fine\n'), 50))
    const answer = await exchange(`${POST}Content-Length: 2\r\n\r\nokhello\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*fine\n$/)
  })
})

test('"100 Continue" is still answered by Node if the service does not', async () => {
  await serve(answerAtEnd)
  const answer = await exchange(`${POST}Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`)
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})
