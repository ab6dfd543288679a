import { request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { BOOTSTRAP_KEY, type TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

export function describeRefusals(testApi: () => TestApi): void {
  const api = () => testApi().api
  const json = { 'content-type': 'application/json' }
  const send = (raw: string | Uint8Array, headers: Record<string, string> = json) =>
    api().call('POST', '/v1/projects', { raw, headers })

  describe('an invalid request', () => {
    const rows: {
      name: string
      raw: string | Uint8Array
      headers?: Record<string, string>
      status: number
      code: string
    }[] = [
      { name: 'is not JSON', raw: '{"name":', status: 400, code: 'malformed_json' },
      { name: 'is not UTF-8', raw: Uint8Array.of(0x22, 0xff, 0x22), status: 400, code: 'malformed_json' },
      { name: 'is no object', raw: '[]', status: 400, code: 'invalid_request' },
      { name: 'is null', raw: 'null', status: 400, code: 'invalid_request' },
      {
        name: 'tries to reach the prototype',
        raw: '{"name":"x","__proto__":{"a":1}}',
        status: 400,
        code: 'invalid_request',
      },
      {
        name: 'is another type',
        raw: 'name=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        status: 415,
        code: 'unsupported_media_type',
      },
      {
        name: 'names no type',
        raw: '{"name":"x"}',
        headers: { 'content-type': '' },
        status: 415,
        code: 'unsupported_media_type',
      },
      {
        name: 'is compressed',
        raw: gzipSync('{"name":"x"}'),
        headers: { ...json, 'content-encoding': 'gzip' },
        status: 415,
        code: 'unsupported_encoding',
      },
      { name: 'is too large', raw: `{"name":"${'x'.repeat(1_048_576)}"}`, status: 413, code: 'payload_too_large' },
    ]
    test.each(rows)('because it $name is answered $status $code', async ({ raw, headers, status, code }) => {
      const answer = await send(raw, headers)
      expect(answer).toMatchObject({ status, body: { status, code, type: `urn:backstop:error:${code}` } })
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
    })

    test.each([
      { name: 'a token that does not belong there', raw: '{"name":\n  tru}', place: 'line 2, column 3' },
      { name: 'a comma too many', raw: '{"name":"x",}', place: 'line 1, column 13' },
      { name: 'an early end', raw: '{"name":"x"', place: 'line 1, column 12' },
    ])('with $name in its JSON is told the position: $place', async ({ raw, place }) => {
      const { body } = await send(raw)
      expect(body).toMatchObject({ code: 'malformed_json', detail: expect.stringContaining(place) })
    })

    test('is told the methods of its path, and the unknown query parameters', async () => {
      const key = await api().call('GET', '/v1/api-keys/key_1/rotate')
      expect(key).toMatchObject({ status: 405, body: { detail: 'GET is not allowed on this path; use POST' } })
      const query = await api().get('/v1/projects?limits=1')
      const message = 'Unknown query parameter; remove it'
      expect(query.body).toMatchObject({
        detail: `query.limits: ${message}`,
        errors: [{ path: 'query.limits', message }],
      })
      const field = await api().post('/v1/projects', { name: 'x', nam: 'x' })
      expect(field.body).toMatchObject({ detail: 'body.nam: Unknown field; remove it' })
    })

    test.each([
      { amount: 1e20, message: 'Give at most 9007199254740991' },
      { amount: -1e20, message: 'Give at least 0' },
      { amount: 1.5, message: 'Give a whole number' },
      { amount: -1, message: 'Give at least 0' },
      { amount: 'ten', message: 'Give a number' },
    ])('with the amount $amount is told so once', async ({ amount, message }) => {
      const body = { connection_id: 'con_1', kind: 'refund', subject: 'pi_1', currency: 'eur', amount }
      const answer = await api().post('/v1/operations', body)
      expect(answer.body.errors).toEqual([{ path: 'body.amount', message }])
    })

    test.each([
      { what: 'a control character', name: 'Shop\u0007' },
      { what: 'a line break inside', name: 'Shop\nGermany' },
      { what: 'a mark that turns the direction of text', name: 'Shop \u202Egnp.exe' },
      { what: 'an isolate of text direction', name: '\u2066Shop' },
      { what: 'an invisible space', name: 'Sh\u200Bop' },
      { what: 'half a character', name: 'Shop \ud83d' },
    ])('with a name that contains $what is refused', async ({ name }) => {
      const { projectId } = await createTestProject(api())
      const config = { kind: 'email', to: ['a@b.test'] }
      for (const [path, body] of [
        ['/v1/projects', { name }],
        [`/v1/projects/${projectId}/connections`, { kind: 'processor', name }],
        ['/v1/alert-channels', { project_id: projectId, name, events: ['run.failed'], config }],
        ['/v1/api-keys', { name, scopes: ['read'] }],
        ['/v1/budgets', { project_id: projectId, name, currency: 'eur', cap: 1, interval: 'day' }],
      ] as const) {
        const answer = await api().post(path, body)
        expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'body.name' }] } })
      }
      const branded = await api().patch(`/v1/projects/${projectId}`, { branding: { name } })
      expect(branded).toMatchObject({ status: 400, body: { errors: [{ path: 'body.branding.name' }] } })
    })

    test('keeps names in any script, with emoji made of several characters', async () => {
      const name = 'متجر 店 👩\u200d💻'
      expect(await api().post('/v1/projects', { name })).toMatchObject({ status: 201, body: { name } })
    })

    test.each([
      { what: 'no URL', url: 'nope', code: 'invalid_request' },
      { what: 'a URL with a space', url: 'https://a b.test/', code: 'invalid_request' },
      { what: 'a URL of a blocked address', url: 'https://blocked.test/', code: 'egress_blocked' },
    ])('with $what is told the field: $code', async ({ url, code }) => {
      const { projectId } = await createTestProject(api())
      const config = { kind: 'webhook', url }
      const channel = { project_id: projectId, name: 'x', events: ['run.failed'], config }
      const answers = [
        [await api().post('/v1/alert-channels', channel), 'body.config.url'],
        [
          await api().post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'x', api_base: url }),
          'body.api_base',
        ],
      ] as const
      for (const [answer, path] of answers) {
        expect(answer).toMatchObject({ status: 400, body: { code, errors: [{ path, message: expect.any(String) }] } })
      }
    })

    test('with a too large body is answered 413, also without Content-Length', async () => {
      const answer = await new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(api().url)
        const headers = { ...json, authorization: 'Bearer bootstrap-key-of-the-tests-0123456789' }
        const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/projects', headers }, response => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.on('error', reject)
        // The body is chunked, so the request has no Content-Length.
        for (let i = 0; i < 20; i++) sent.write('x'.repeat(65_536))
        sent.end()
      })
      expect(answer).toBe(413)
    })

    test('a body of exactly the limit is read', async () => {
      const frame = '{"name":""}'
      const answer = await send(`{"name":"${'x'.repeat(1_048_576 - frame.length)}"}`)
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'body.name' }] } })
    })

    test('JSON is accepted with a charset, and as application/…+json', async () => {
      for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json']) {
        expect((await send('{"name":"x"}', { 'content-type': type })).status).toBe(201)
      }
    })

    const many = (count: number) => Array.from({ length: count }, (_, at) => at)
    test.each([
      {
        name: '50,000 unknown fields',
        path: '/v1/projects',
        body: Object.fromEntries(many(50_000).map(at => [`f${at}`, 1])),
      },
      { name: 'one name of a megabyte', path: '/v1/projects', body: { ['\u0001'.repeat(160_000)]: 1 } },
      { name: 'a list of wrong items', path: '/v1/api-keys', body: { name: 'x', scopes: many(90_000) } },
    ])('is answered shortly when it holds $name', async ({ path, body }) => {
      const answer = await api().post(path, body)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(JSON.stringify(answer.body).length).toBeLessThan(20_000)
    })

    test('no answer repeats a value of the request', async () => {
      const answers = [
        await send('{"name":"canary-1"'),
        await send('{"name":{"canary-2":1}}'),
        await send('{"name":1,"x":"canary-3"}'),
        await api().get('/v1/projects?limit=canary-4'),
        await api().withKey('canary-5-0123456789').get('/v1/projects'),
      ]
      for (const { status, body } of answers) {
        expect(status).toBeGreaterThanOrEqual(400)
        expect(JSON.stringify(body)).not.toContain('canary')
      }
      expect(testApi().log.join('')).not.toMatch(/canary-[135]/)
    })
  })

  describe('input that is no HTTP request', () => {
    const exchange = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const { port } = new URL(api().url)
        let answer = ''
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
        socket.on('data', chunk => {
          answer += chunk
        })
        socket.on('end', () => resolve(answer))
        socket.on('error', reject)
      })

    test.each([
      {
        name: 'with headers beyond 16 KiB',
        text: `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
        status: 431,
        code: 'headers_too_large',
      },
      { name: 'that is no HTTP', text: 'hello\r\n\r\n', status: 400, code: 'invalid_request' },
      {
        name: 'without a host',
        text: 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
        status: 400,
        code: 'invalid_request',
      },
      {
        name: 'with two lengths',
        text: 'POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        status: 400,
        code: 'invalid_request',
      },
      {
        name: 'with two Authorization headers',
        text: `GET /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${BOOTSTRAP_KEY}\r\nauthorization: Bearer x\r\nConnection: close\r\n\r\n`,
        status: 400,
        code: 'invalid_request',
      },
    ])('$name is answered $status with a problem document', async ({ text, status, code }) => {
      const [head = '', body = ''] = (await exchange(text)).split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(head).toMatch(/content-type: application\/problem\+json/i)
      expect(JSON.parse(body)).toMatchObject({ status, code, request_id: expect.stringMatching(/^req_/) })
    })
  })

  describe('a request to an unknown path', () => {
    test('is answered 404 with the URL of the list of paths', async () => {
      for (const path of ['/v2/projects', '/v1/none', '/v1/projects/x/y/z', '/V1/projects']) {
        const answer = await api().get(path)
        expect(answer).toMatchObject({
          status: 404,
          body: { code: 'not_found', detail: expect.stringContaining('/v1/openapi.json') },
        })
      }
    })

    test('with a broken address is answered 400', async () => {
      expect(await api().get('/v1/projects/%E0%A4%A')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    })

    test.each([
      { method: 'PUT', path: '/v1/projects', allow: 'POST, GET, HEAD' },
      { method: 'DELETE', path: '/v1/projects', allow: 'POST, GET, HEAD' },
      { method: 'POST', path: '/v1/incidents', allow: 'GET, HEAD' },
      { method: 'GET', path: '/v1/operations/op_1/transitions', allow: 'POST' },
      { method: 'OPTIONS', path: '/v1/alert-channels/chn_1', allow: 'GET, HEAD, PATCH, DELETE' },
    ])('by $method $path is answered 405 with the allowed methods', async ({ method, path, allow }) => {
      const answer = await api().call(method, path)
      expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
      expect(answer.headers.get('allow')).toBe(allow)
    })
  })

  describe('every answer', () => {
    test('has the headers that keep browsers out', async () => {
      for (const path of ['/', '/v1/openapi.json', '/v1/projects', '/v1/none']) {
        const { headers } = await api().get(path)
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/)
        expect(headers.get('cache-control')).toBe('no-store')
        expect(headers.get('x-powered-by')).toBeNull()
        expect(headers.get('x-request-id')).toMatch(/^req_/)
      }
    })

    test('leaves one wide log line that names the route, the key and the request', async () => {
      const answer = await api().get('/v1/projects/prj_none?')
      const id = answer.headers.get('x-request-id')
      const lines = () =>
        testApi()
          .log.map(line => JSON.parse(line))
          .filter(line => line.request_id === id)
      await expect.poll(lines).toMatchObject([
        {
          msg: 'http.request',
          method: 'GET',
          route: '/v1/projects/{id}',
          path: '/v1/projects/prj_none',
          status: 404,
          code: 'not_found',
          key_id: 'key_bootstrap',
          duration_ms: expect.any(Number),
        },
      ])
    })

    test('leaves a short log line for a path of any length', async () => {
      await api().get(`/v1/projects/${'x'.repeat(10_000)}?`)
      const lines = () => testApi().log.filter(line => line.includes('/v1/projects/xxxx'))
      await expect.poll(lines).toHaveLength(1)
      expect(lines()[0]?.length).toBeLessThan(1_000)
    })

    test('is logged without a status if it was never sent', async () => {
      const { port } = new URL(api().url)
      const socket = connect(Number(port), '127.0.0.1', () => {
        const head =
          'POST /v1/alert-channels/broken-off/test HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n'
        socket.write(`${head}Authorization: Bearer bootstrap-key-of-the-tests-0123456789\r\n\r\n{`, () =>
          setTimeout(() => socket.destroy(), 50),
        )
      })
      const broken = () =>
        testApi()
          .log.map(line => JSON.parse(line))
          .filter(line => line.path === '/v1/alert-channels/broken-off/test')
      await expect.poll(broken).toMatchObject([{ msg: 'http.request', method: 'POST', finished: false }])
      expect(broken()[0].status).toBeUndefined()
    })

    test('to HEAD has the headers of GET and no body', async () => {
      const answer = await api().call('HEAD', '/v1/projects')
      expect([answer.status, answer.body]).toEqual([200, undefined])
    })
  })
}
