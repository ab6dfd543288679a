import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMemoryApi, type TestApi } from './test-api.ts'

const SCRIPT = 'console.log("the console")'.repeat(40)
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-encoding': 'gzip, deflate, br' }

let folder: string
let api: TestApi

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-console-'))
  writeFileSync(join(folder, '..', 'secret-of-the-console-test.js'), 'secret')
  api = await startMemoryApi({ consoleFolder: join(folder, 'dist') })
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true })
  rmSync(join(folder, '..', 'secret-of-the-console-test.js'))
})

function build(): void {
  const dist = join(folder, 'dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  writeFileSync(join(dist, 'assets/main-1a2b.js'), SCRIPT)
  writeFileSync(join(dist, 'assets/main-1a2b.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(dist, 'assets/main-1a2b.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(dist, 'sources.sha256'), 'not for browsers')
  writeFileSync(
    join(dist, 'index.html'),
    '<meta name="style-nonce" content="__STYLE_NONCE__"><meta content="__ORGANISATION_SIGN_IN__">',
  )
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Sends the path as it is; fetch would normalize it. */
function get(path: string, headers: Record<string, string> = BROWSER, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: api.app.port(), path, method, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response
        resolve({ status, headers: received as Record<string, string>, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('before the console is built', () => {
  test('a browser is told the command that builds it', async () => {
    const { status, headers, body } = await get('/')
    expect([status, headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8'])
    expect(String(body)).toBe(
      'The console is not built: run `npm run console` in the clone of Backstop, then reload this page.\n',
    )
  })

  test('programs use the API as always', async () => {
    expect((await get('/', { accept: 'application/json' })).status).toBe(200)
    expect((await get('/v1/openapi.json', BROWSER)).status).toBe(200)
  })
})

describe('the built console', () => {
  beforeAll(build)

  test.each(['/', '/sign-in', '/p/prj_1/incidents/inc_1', '/incidents/inc_1?state=open'])(
    'is served to a browser at %s with a strict policy',
    async path => {
      const { status, headers, body } = await get(path)
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ])
      const nonce = /content="([\w+/=]{24})"/.exec(String(body))?.[1]
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; font-src 'none'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      )
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers.vary).toMatch(/accept/i)
    },
  )

  test('says whether people can sign in with OpenID Connect', async () => {
    expect(String((await get('/sign-in')).body)).toContain('<meta content="false">')
  })

  test('has a fresh nonce in every answer', async () => {
    const [first, second] = await Promise.all([get('/'), get('/')])
    expect(first.body.equals(second.body)).toBe(false)
    expect(String(first.body)).not.toContain('__STYLE_NONCE__')
  })

  test.each([
    ['br', 'gzip, deflate, br', brotliCompressSync(SCRIPT)],
    ['gzip', 'gzip, deflate', gzipSync(SCRIPT)],
    [undefined, 'identity', Buffer.from(SCRIPT)],
    ['gzip', 'br;q=0, gzip', gzipSync(SCRIPT)],
  ])('sends a file as %s to a browser that accepts %s', async (encoding, accepted, bytes) => {
    const { status, headers, body } = await get('/assets/main-1a2b.js', { 'accept-encoding': accepted })
    expect([status, headers['content-encoding']]).toEqual([200, encoding])
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.length),
      vary: expect.stringMatching(/accept-encoding/i),
    })
    expect(body.equals(bytes)).toBe(true)
  })

  test('answers HEAD without a body', async () => {
    const { status, headers, body } = await get('/assets/main-1a2b.js', {}, 'HEAD')
    expect([status, headers['content-length'], body.length]).toEqual([200, String(SCRIPT.length), 0])
  })

  test.each([
    '/../secret-of-the-console-test.js',
    '/assets/../../../secret-of-the-console-test.js',
    '/assets/..%2f..%2f..%2fsecret-of-the-console-test.js',
    '/assets/%2e%2e/%2e%2e/%2e%2e/secret-of-the-console-test.js',
    '/assets/..\\..\\..\\secret-of-the-console-test.js',
    '/sources.sha256',
    '/assets/main-1a2b.js.br',
  ])('sends nothing outside of it, and nothing that is not for browsers: %s', async path => {
    const { body, headers } = await get(path)
    expect(String(body)).not.toMatch(/^secret$|not for browsers/)
    expect(headers['content-type']).toMatch(/text\/html|problem\+json/)
  })

  test('answers 404 for a file of an earlier build, so that the browser does not read a page as a script', async () => {
    const { status, headers } = await get('/assets/main-0000.js')
    expect([status, headers['content-type']]).toEqual([404, 'application/problem+json'])
  })

  test.each(['/v1/unknown', '/v1', '/V1/projects', '/v1/../v1/unknown'])(
    'leaves %s to the API, which answers with a problem',
    async path => {
      const { status, headers, body } = await get(path)
      expect([status, headers['content-type']]).toEqual([404, 'application/problem+json'])
      expect(JSON.parse(String(body))).toMatchObject({ code: 'not_found' })
    },
  )

  test('answers programs with problems, and other methods too', async () => {
    for (const answer of [await get('/p/prj_1', { accept: '*/*' }), await get('/p/prj_1', BROWSER, 'POST')]) {
      expect(JSON.parse(String(answer.body))).toMatchObject({ status: 404, code: 'not_found' })
    }
  })

  test('is read again after a new build', async () => {
    await get('/')
    writeFileSync(join(folder, 'dist', 'index.html'), 'a newer build')
    expect(String((await get('/')).body)).toBe('a newer build')
  })
})
