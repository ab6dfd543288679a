import { systemClock } from '@backstop/kit/clock'
import {
  type Answer,
  createSelfSignedCertificate,
  FLOODS,
  startFloodingReceiver,
  startReceiver,
  trustCertificate,
} from '@backstop/kit/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { endlessBody, forwardTo, html, json, oddLists, slowBody, truncatedBody } from './answers.ts'
import { MINUTE, START, TEST_READ_KEY, useReaderHarness } from './reader-harness.ts'
import type { OpenTestAccount } from './test-accounts.ts'

/**
 * The largest number of bytes that a server may send before the reader cuts it: twice the limit of 8 MiB, plus kernel buffers.
 */
const MOST_SENT_BYTES = 32 * 1_048_576

/** Every kind of failed answer must be reported as its failure, within the deadline and without the read key. */
export function describeFailures(provider: Provider, openTestAccount: OpenTestAccount): void {
  const harness = useReaderHarness(provider, openTestAccount)

  describe(`a reader of the ${provider.kind} reports`, () => {
    const rows: { name: string; answer: Answer; failure: string; deadlineMs?: number }[] = [
      { name: 'a page of HTML', answer: html(200), failure: 'answer_malformed' },
      { name: 'a gateway that is down', answer: html(502), failure: 'provider_unavailable' },
      { name: 'a page of HTML with 404', answer: html(404), failure: 'question_refused' },
      {
        name: 'an empty body',
        answer: (_request, response) => void response.writeHead(204).end(),
        failure: 'answer_malformed',
      },
      { name: 'an empty object', answer: json(200, {}), failure: 'answer_malformed' },
      { name: 'a list instead of an object', answer: json(200, []), failure: 'answer_malformed' },
      { name: 'a truncated body', answer: truncatedBody, failure: 'unreachable' },
      // A busy machine needs seconds for the 8 MiB at which the reader stops.
      { name: 'an endless body', answer: endlessBody, failure: 'answer_malformed', deadlineMs: 20_000 },
      {
        name: 'a redirect',
        answer: json(302, {}, { location: 'http://127.0.0.1:1/' }),
        failure: 'answer_malformed',
      },
      { name: 'a closed connection', answer: (_request, response) => void response.destroy(), failure: 'unreachable' },
      { name: 'no answer', answer: () => {}, failure: 'unreachable' },
      { name: 'a slow body', answer: slowBody, failure: 'unreachable' },
    ]

    test.each(rows)('$name as $failure, within the deadline', async ({ answer, failure, deadlineMs = 600 }) => {
      const server = await harness.serve(answer)
      const reader = harness.openReader(server.url, { clock: systemClock })
      const from = performance.now()
      expect(await reader.read(harness.endTargets('sub_1'), deadlineMs)).toMatchObject({ kind: 'failed', failure })
      // A busy machine is seconds late, and a reader without a deadline would wait for ever.
      expect(performance.now() - from).toBeLessThan(deadlineMs + 15_000)
    })

    test.each(
      [FLOODS.chunkExtension, FLOODS.interimResponses, FLOODS.trailers].flatMap(flood =>
        ['http', 'https'].map(scheme => ({ flood, scheme })),
      ),
    )(
      'a flood of $flood.name by $scheme as answer_malformed, and closes the connection early',
      async ({ flood, scheme }) => {
        const certificate = scheme === 'https' ? createSelfSignedCertificate('localhost') : undefined
        const distrust = certificate === undefined ? () => {} : trustCertificate(certificate)
        const server = await startFloodingReceiver(flood, certificate)
        try {
          const reader = harness.openReader(`${scheme}://localhost:${server.port}`, { clock: systemClock })
          expect(await reader.read(harness.endTargets('sub_1'), 10_000)).toMatchObject({ failure: 'answer_malformed' })
          expect(server.sentBytes()).toBeLessThan(MOST_SENT_BYTES)
        } finally {
          await server.stop()
          distrust()
        }
      },
    )

    test('the failure of an earlier answer when the retry gets none', async () => {
      let requests = 0
      const server = await harness.serve((request, response) => {
        requests++
        if (requests === 1) html(503)(request, response)
      })
      const reader = harness.openReader(server.url, { clock: systemClock })
      expect(await reader.read(harness.endTargets('sub_1'), 600)).toMatchObject({ failure: 'provider_unavailable' })
      expect(requests).toBeGreaterThan(1)
    })

    test('an answer about another object as malformed', async () => {
      const { account } = await harness.openAccount()
      const [asked, answered] = [account.subscribe(), account.subscribe()]
      const wrong = await harness.serve(forwardTo(account.api.url, path => path.replace(asked, answered)))
      expect(await harness.ask(harness.openReader(wrong.url), harness.endTargets(asked))).toMatchObject({
        failure: 'answer_malformed',
      })
    })

    test('an arbitrary answer without throwing', async () => {
      let body: unknown
      let status = 200
      const server = await harness.serve(
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
          const reader = harness.openReader(server.url)
          const targets = [...harness.refundTargets('txn_1'), ...harness.refundTargets(null, 'sub_1')]
          expect((await reader.read(targets, 3_000)).kind).toMatch(/^(read|not_found|failed)$/)
          expect((await reader.changes(null, 0)).kind).toMatch(/^(page|failed)$/)
          expect((await reader.schedules({ feed: 'x', page: 'y', from: 'z' })).kind).toMatch(/^(page|failed)$/)
        }),
        { numRuns: 25 },
      )
    })

    test('an answer that contains the read key without the key', async () => {
      for (const status of [400, 401, 403, 404, 409, 429, 500]) {
        const server = await harness.serve((request, response) => {
          const error = { code: TEST_READ_KEY, type: TEST_READ_KEY, message: request.headers.authorization }
          json(status, { error, api_error_code: TEST_READ_KEY, message: TEST_READ_KEY })(request, response)
        })
        const answer = await harness.openReader(server.url).read(harness.endTargets('sub_1'), 400)
        expect(answer.kind).toBe('failed')
        expect(JSON.stringify(answer)).not.toContain(TEST_READ_KEY)
        expect(JSON.stringify(answer)).not.toContain(Buffer.from(`${TEST_READ_KEY}:`).toString('base64'))
      }
    })

    test('a closed port and an aborted read as unreachable', async () => {
      const server = await startReceiver()
      await server.stop()
      expect(await harness.openReader(server.url).read(harness.endTargets('sub_1'), 400)).toMatchObject({
        failure: 'unreachable',
      })
      const silent = await harness.serve(() => {})
      const stopping = new AbortController()
      const asked = harness
        .openReader(silent.url, { clock: systemClock })
        .read(harness.endTargets('sub_1'), MINUTE, stopping.signal)
      await expect.poll(() => silent.requests.length).toBe(1)
      stopping.abort()
      expect(await asked).toMatchObject({ failure: 'unreachable' })
      expect(silent.requests).toHaveLength(1)
    })

    test('a forbidden address as address_refused, without a connection', async () => {
      const server = await harness.serve(json(200, {}))
      const bases = [server.url, server.url.replace('127.0.0.1', 'localhost'), 'https://10.0.0.1', 'no address']
      for (const apiBase of bases) {
        const reader = harness.openGuardedReader(apiBase)
        expect(await harness.ask(reader, harness.endTargets('sub_1')), apiBase).toMatchObject({
          failure: 'address_refused',
        })
        expect(await reader.changes(null, START)).toMatchObject({ failure: 'address_refused' })
      }
      expect(server.connections.accepted).toBe(0)
    })
  })
}
