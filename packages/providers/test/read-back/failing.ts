import { systemClock } from '@backstop/kit'
import {
  type Answer,
  createSelfSignedCertificate,
  FLOODS,
  startFloodingReceiver,
  startReceiver,
  trusting,
} from '@backstop/kit/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { dripping, endless, halfOfIt, html, json, oddLists, passOn } from './answers.ts'
import { KEY, MINUTE, START, useSetting } from './reader-harness.ts'
import type { OpenWorld } from './test-accounts.ts'

/** Twice the 8 MiB of an answer, and what the kernel's buffers take. */
const MOST_SENT_BYTES = 32 * 1_048_576

/** Whatever a server does instead of answering has its name, ends in time, and gives nothing away. */
export function describeFailing(provider: Provider, openWorld: OpenWorld): void {
  const setting = useSetting(provider, openWorld)

  describe(`an answer that the ${provider.kind} does not give`, () => {
    const rows: { name: string; answer: Answer; failure: string }[] = [
      { name: 'a page of HTML', answer: html(200), failure: 'answer_malformed' },
      { name: 'a gateway that is down', answer: html(502), failure: 'provider_unavailable' },
      { name: 'a page of HTML that is not found', answer: html(404), failure: 'question_refused' },
      {
        name: 'nothing',
        answer: (_request, response) => void response.writeHead(204).end(),
        failure: 'answer_malformed',
      },
      { name: 'an empty object', answer: json(200, {}), failure: 'answer_malformed' },
      { name: 'a list instead of an object', answer: json(200, []), failure: 'answer_malformed' },
      { name: 'half of it', answer: halfOfIt, failure: 'unreachable' },
      { name: 'too much', answer: endless, failure: 'answer_malformed' },
      {
        name: 'the way to another place',
        answer: json(302, {}, { location: 'http://127.0.0.1:1/' }),
        failure: 'answer_malformed',
      },
      { name: 'a closed connection', answer: (_request, response) => void response.destroy(), failure: 'unreachable' },
      { name: 'silence', answer: () => {}, failure: 'unreachable' },
      { name: 'a byte now and then', answer: dripping, failure: 'unreachable' },
    ]

    test.each(rows)('$name is $failure, within the deadline', async ({ answer, failure }) => {
      const server = await setting.serve(answer)
      const reader = setting.openReader(server.url, { clock: systemClock })
      const from = performance.now()
      expect(await reader.read(setting.endTargets('sub_1'), 600)).toMatchObject({ kind: 'failed', failure })
      expect(performance.now() - from).toBeLessThan(2_000)
    })

    test.each(
      [FLOODS.chunkExtension, FLOODS.interimResponses, FLOODS.trailers].flatMap(flood =>
        ['http', 'https'].map(scheme => ({ flood, scheme })),
      ),
    )('a flood of $flood.name by $scheme is answer_malformed, and cut early', async ({ flood, scheme }) => {
      const certificate = scheme === 'https' ? createSelfSignedCertificate('localhost') : undefined
      const distrust = certificate === undefined ? () => {} : trusting(certificate)
      const server = await startFloodingReceiver(flood, certificate)
      try {
        const reader = setting.openReader(`${scheme}://localhost:${server.port}`, { clock: systemClock })
        expect(await reader.read(setting.endTargets('sub_1'), 10_000)).toMatchObject({ failure: 'answer_malformed' })
        expect(server.sentBytes()).toBeLessThan(MOST_SENT_BYTES)
      } finally {
        await server.stop()
        distrust()
      }
    })

    test('after one that it does give does not hide that', async () => {
      let requests = 0
      const server = await setting.serve((request, response) => {
        requests++
        if (requests === 1) html(503)(request, response)
      })
      const reader = setting.openReader(server.url, { clock: systemClock })
      expect(await reader.read(setting.endTargets('sub_1'), 600)).toMatchObject({ failure: 'provider_unavailable' })
      expect(requests).toBeGreaterThan(1)
    })

    test('about another object is malformed', async () => {
      const { world } = await setting.openAccount()
      const [asked, answered] = [world.subscribe(), world.subscribe()]
      const lying = await setting.serve(passOn(world.api.url, path => path.replace(asked, answered)))
      expect(await setting.ask(setting.openReader(lying.url), setting.endTargets(asked))).toMatchObject({
        failure: 'answer_malformed',
      })
    })

    test('never becomes an exception, whatever it holds', async () => {
      let body: unknown
      let status = 200
      const server = await setting.serve(
        (_request, response) => void response.writeHead(status).end(JSON.stringify(body)),
      )
      const some = fc.oneof(
        fc.json({ maxDepth: 3 }).map(text => JSON.parse(text)),
        oddLists(),
      )
      await fc.assert(
        fc.asyncProperty(some, fc.constantFrom(200, 200, 404), async (oddBody, oddStatus) => {
          body = oddBody
          status = oddStatus
          const reader = setting.openReader(server.url)
          const targets = [...setting.refundTargets('txn_1'), ...setting.refundTargets(null, 'sub_1')]
          expect((await reader.read(targets, 3_000)).kind).toMatch(/^(read|not_found|failed)$/)
          expect((await reader.changes(null, 0)).kind).toMatch(/^(page|failed)$/)
          expect((await reader.schedules({ feed: 'x', page: 'y', from: 'z' })).kind).toMatch(/^(page|failed)$/)
        }),
        { numRuns: 25 },
      )
    })

    test('that says the key back is told without it', async () => {
      for (const status of [400, 401, 403, 404, 409, 429, 500]) {
        const server = await setting.serve((request, response) => {
          const said = { code: KEY, type: KEY, message: request.headers.authorization }
          json(status, { error: said, api_error_code: KEY, message: KEY })(request, response)
        })
        const answer = await setting.openReader(server.url).read(setting.endTargets('sub_1'), 400)
        expect(answer.kind).toBe('failed')
        expect(JSON.stringify(answer)).not.toContain(KEY)
        expect(JSON.stringify(answer)).not.toContain(Buffer.from(`${KEY}:`).toString('base64'))
      }
    })

    test('because nobody listens, or the caller gives up, is unreachable', async () => {
      const server = await startReceiver()
      await server.stop()
      expect(await setting.openReader(server.url).read(setting.endTargets('sub_1'), 400)).toMatchObject({
        failure: 'unreachable',
      })
      const silent = await setting.serve(() => {})
      const stopping = new AbortController()
      const asked = setting
        .openReader(silent.url, { clock: systemClock })
        .read(setting.endTargets('sub_1'), MINUTE, stopping.signal)
      await expect.poll(() => silent.requests.length).toBe(1)
      stopping.abort()
      expect(await asked).toMatchObject({ failure: 'unreachable' })
      expect(silent.requests).toHaveLength(1)
    })

    test('is not even asked for at an address that users may not reach', async () => {
      const server = await setting.serve(json(200, {}))
      const bases = [server.url, server.url.replace('127.0.0.1', 'localhost'), 'https://10.0.0.1', 'no address']
      for (const apiBase of bases) {
        const reader = setting.openGuardedReader(apiBase)
        expect(await setting.ask(reader, setting.endTargets('sub_1')), apiBase).toMatchObject({
          failure: 'address_refused',
        })
        expect(await reader.changes(null, START)).toMatchObject({ failure: 'address_refused' })
      }
      expect(server.connections.accepted).toBe(0)
    })
  })
}
