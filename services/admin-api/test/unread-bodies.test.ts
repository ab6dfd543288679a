/** Tests which request bodies are read, up to which size, and how many at once. */
import { connect, type Socket } from 'node:net'
import { UNSUBSCRIBE_PURPOSE, unsubscribeTargetText } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BOOTSTRAP_KEY, MAIL_EVENTS_TOKEN, secretBoxOfTests, startMemoryApi, type TestApi } from './test-api.ts'

const KIB = 1_024
const BUDGET = 1_500 * KIB

let testApi: TestApi
const sockets: Socket[] = []
beforeEach(async () => {
  testApi = await startMemoryApi({ bodiesMaxBytes: BUDGET })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await testApi.stop()
})

/** Sends the head of a request and the beginning of its body. The result gives access to the answer. */
function sendIncompleteRequest(
  path: string,
  length: number,
  sent = 0,
  headers = '',
  method = 'POST',
): { answer: () => string; socket: Socket } {
  const socket = connect(Number(new URL(testApi.api.url).port), '127.0.0.1')
  sockets.push(socket)
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', chunk => {
    answer += chunk
  })
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: ${length}\r\n\r\n`,
  )
  if (sent > 0) socket.write(Buffer.alloc(sent, 0x20))
  return { answer: () => answer, socket }
}

const statusOf = (request: ReturnType<typeof sendIncompleteRequest>) =>
  until('the answer', () => /^HTTP\/1.1 (\d+)[\s\S]*\r\n\r\n/.exec(request.answer())?.[1])

describe('a body that is announced and does not arrive', () => {
  const token = secretBoxOfTests.sign(
    UNSUBSCRIBE_PURPOSE,
    unsubscribeTargetText({ projectId: 'prj_mail', address: 'eager@example.com' }, new Date().toISOString()),
  )
  test.each([
    { name: 'a link that unsubscribes', path: `/v1/unsubscribe/${token}`, status: '200' },
    { name: 'a broken link', path: '/v1/unsubscribe/x', status: '404' },
    { name: 'reports under a wrong token', path: '/v1/mail-events/postmark/wrong', status: '404' },
    { name: 'messages of SNS under a wrong token', path: '/v1/mail-events/ses-sns/wrong', status: '404' },
    { name: 'a format that is not known', path: `/v1/mail-events/x/${MAIL_EVENTS_TOKEN}`, status: '404' },
    { name: 'a call without a key', path: '/v1/projects', status: '401' },
    { name: 'a path that is not there', path: '/nowhere', status: '404' },
    { name: 'the start', method: 'GET', path: '/', status: '200' },
    { name: 'the OpenAPI document', method: 'GET', path: '/v1/openapi.json', status: '200' },
    { name: 'a sign-in with OpenID Connect', method: 'GET', path: '/v1/sign-in/oidc/callback', status: '404' },
    { name: 'the page of a link that unsubscribes', method: 'GET', path: `/v1/unsubscribe/${token}`, status: '200' },
  ])('is not waited for by $name', async ({ method, path, status }) => {
    const request = sendIncompleteRequest(path, 1_000, 0, '', method)
    expect(await statusOf(request)).toBe(status)
    expect(request.answer()).toMatch(/connection: close/i)
  })

  test('has its connection closed after the answer, even if the client continues to send', async () => {
    const { socket, ...request } = sendIncompleteRequest('/v1/unsubscribe/x', 1_000)
    const closed = new Promise(resolve => socket.once('close', resolve))
    await statusOf({ socket, ...request })
    await closed
  })
})

describe('a body for a route without one', () => {
  const headers = `authorization: Bearer ${BOOTSTRAP_KEY}\r\n`

  test('is refused, with or without Content-Length', async () => {
    const announced = sendIncompleteRequest('/v1/projects', 1_000 * KIB, 0, headers, 'GET')
    expect(await statusOf(announced)).toBe('400')
    const chunked = sendIncompleteRequest(
      '/v1/projects',
      0,
      0,
      `${headers}transfer-encoding: chunked\r\nx-ignored-`,
      'GET',
    )
    chunked.socket.write(`${(2 * KIB).toString(16)}\r\n${' '.repeat(2 * KIB)}`)
    expect(await statusOf(chunked)).toBe('400')
    for (const { answer } of [announced, chunked]) {
      await until('the whole answer', () => answer().includes('"detail":"This path takes no body; send none"'))
    }
  })

  test('may be an empty object, which some clients always send', async () => {
    expect((await testApi.api.call('DELETE', '/v1/budgets/bud_none', { body: {} })).status).toBe(404)
    expect((await testApi.api.call('DELETE', '/v1/budgets/bud_none', { body: { x: 1 } })).status).toBe(400)
  })
})

describe('a report of a mail provider', () => {
  const path = `/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`

  test('may hold 64 KiB', async () => {
    const report = { RecordType: 'Open', padding: '' }
    report.padding = 'x'.repeat(64 * KIB - JSON.stringify(report).length)
    const send = () => testApi.api.withKey(undefined).post(path, report)
    expect((await send()).status).not.toBe(413)
    report.padding += 'x'
    expect(await send()).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  test('is refused at its 65,537th byte, with or without Content-Length', async () => {
    expect(await statusOf(sendIncompleteRequest(path, 64 * KIB + 1))).toBe('413')
    const chunked = sendIncompleteRequest(path, 0, 0, 'transfer-encoding: chunked\r\nx-ignored-')
    chunked.socket.write(`${(64 * KIB + 1).toString(16)}\r\n${'x'.repeat(64 * KIB + 1)}`)
    expect(await statusOf(chunked)).toBe('413')
  })
})

test('bodies beyond the memory budget are refused with 503, and the budget is released', async () => {
  const headers = `authorization: Bearer ${BOOTSTRAP_KEY}\r\n`
  const both = [1, 2].map(() => sendIncompleteRequest('/v1/projects', 1_000 * KIB, 999 * KIB, headers))
  const refused = await until('one of them to be refused', () => both.find(({ answer }) => answer().endsWith('}')))
  expect(refused.answer()).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: \d[\s\S]*"code":"overloaded"/i)
  const other = both.find(request => request !== refused)
  other?.socket.write(Buffer.alloc(KIB, 0x20))
  // Blanks are not JSON, and the answer shows that all of them were read.
  await until('the other to be read', () => other?.answer().includes('"malformed_json"'))
  expect((await testApi.api.post('/v1/projects', { name: 'x', padding: 'x'.repeat(900 * KIB) })).status).toBe(400)
})
