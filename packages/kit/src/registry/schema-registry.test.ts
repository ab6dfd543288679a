import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHttpExchange } from './registry-exchange.ts'
import { createSchemaRegistry, findSchemaId, registerSchema } from './schema-registry.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answer: Answer
let requests: IncomingMessage[]
let server: Server
let host: string
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  requests = []
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

const open = (url = `http://${host}/api/`) => createSchemaRegistry(url)
const says =
  (status: number, body: string): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(body)

describe('an unavailable registry', () => {
  const cases: { name: string; answer: Answer }[] = [
    { name: 'answers 503 with a page', answer: says(503, '<html>secret</html>') },
    { name: 'answers 500 with JSON', answer: says(500, '{"error_code":50001,"message":"store"}') },
    { name: 'answers 500 with null', answer: says(500, 'null') },
    { name: 'asks for patience', answer: says(429, '{}') },
    { name: "is a proxy's page in place of it", answer: says(200, '<html>sign in</html>') },
    { name: "is a proxy's 404 in place of it", answer: says(404, 'default backend - 404') },
    { name: 'is another server that knows no such path', answer: says(404, '{"detail":"no resource","status":404}') },
    { name: 'closes the connection', answer: request => void request.socket.destroy() },
    {
      name: 'breaks off in the middle of its answer',
      answer: (request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"id":', () => request.socket.destroy())
      },
    },
  ]
  test.each(cases)('that $name is worth another try, for every call', async row => {
    answer = row.answer
    const registry = open()
    const calls = [
      () => findSchemaId(registry, 'a-value', '{}'),
      () => registerSchema(registry, 'a-value', '{}'),
      () => registry.getSchema(7),
    ]
    for (const make of calls) {
      const call = make()
      await expect(call).rejects.toMatchObject({ code: 'unavailable', retryable: true })
      await expect(call).rejects.not.toThrow(/secret/)
    }
    answer = says(200, '{"schemaType":"JSON","schema":"{}"}')
    await registry.getSchema(7)
  })

  test('that accepts the connection and does not answer is given up, with the time as the cause', async () => {
    answer = () => {}
    const registry = createSchemaRegistry(`http://${host}/api/`, createHttpExchange({}, 200))
    await expect(registry.getSchema(7)).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: 'No answer within 0.2 s' },
    })
  })

  test('without a listening server is retryable', async () => {
    await expect(open('http://127.0.0.1:1').getSchema(7)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test('a schema that the registry says it does not have is not found', async () => {
  answer = says(404, '{"error_code":40403,"message":"Schema not found"}')
  await expect(open().getSchema(7)).rejects.toMatchObject({ code: 'not_found' })
  expect(await findSchemaId(open(), 'a-value', '{}')).toBeUndefined()
})

test('a refusal is reported with subject, status and reason, and is not retryable', async () => {
  answer = says(403, '{"error_code":403,"message":"Forbidden"}')
  await expect(registerSchema(open(), 'a-value', '{}')).rejects.toMatchObject({
    code: 'internal',
    retryable: false,
    message: 'a-value: The schema registry refused with 403: Forbidden',
  })
})

test('a refused login is retryable, because its password may be in the middle of a rotation', async () => {
  answer = says(401, '{"error_code":401,"message":"Unauthorized"}')
  await expect(open().getSchema(7)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
})

test('an answer without an id is no id', async () => {
  answer = says(200, '{"name":"another API"}')
  await expect(findSchemaId(open(), 'a-value', '{}')).rejects.toThrow(/without a schema id/)
})

test('credentials of the URL are sent as such, stay out of the path, and a subject is encoded', async () => {
  answer = says(401, '{"message":"no"}')
  const registry = open(`http://me:s%3Acret@${host}/api`)
  await expect(findSchemaId(registry, 'eu/x.a-value', '{}')).rejects.not.toThrow(/cret/)
  expect(requests[0]).toMatchObject({ method: 'POST', url: '/api/subjects/eu%2Fx.a-value' })
  expect(requests[0]!.headers.authorization).toBe(`Basic ${Buffer.from('me:s:cret').toString('base64')}`)
})
