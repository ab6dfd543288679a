import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestPerson } from './contract/test-project.ts'
import { startMemoryApi, type TestApi } from './test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await startMemoryApi()
})
afterAll(() => testApi.stop())

async function send(lines: readonly string[]): Promise<string> {
  const socket = connect(Number(testApi.app.port()), '127.0.0.1')
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
  return text(socket)
}

test.each(['1.0', '1.1'])(
  'a change without a Host header is refused with HTTP/%s, whatever its origin',
  async version => {
    const { cookie } = await createTestPerson(testApi, [{ project_id: null, role: 'admin' }])
    const body = ['Content-Type: application/json', 'Content-Length: 0']
    for (const origin of ['Origin: null', 'Origin: https://evil.example.test', 'Sec-Fetch-Site: same-origin']) {
      const answer = await send([`POST /v1/projects HTTP/${version}`, `Cookie: ${cookie}`, origin, ...body])
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('Send a Host header')
    }
  },
)

test.each(['1.0', '1.1'])('an empty Host header is refused with HTTP/%s', async version => {
  expect(await send([`GET /v1/openapi.json HTTP/${version}`, 'Host: '])).toMatch(/^HTTP\/1\.1 400 /)
})
