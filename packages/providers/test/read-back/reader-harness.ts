/** The test harness for readers: readers over real HTTP, simulated accounts, servers, and the meaning of read objects. */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createEgress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { type Answer, type Receiver, startReceiver } from '@backstop/kit/test'
import { afterEach, beforeEach } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import type { ProviderReader, ReaderOptions, ReadResult } from '../../src/read-back.ts'
import type { Sighting } from '../../src/sighting.ts'
import { createIdleClock, type IdleClock } from './idle-clock.ts'
import type { OpenTestAccount, TestAccount } from './test-accounts.ts'

export const START = Date.parse('2026-03-01T12:00:00Z')
export const MINUTE = 60_000
export const TEST_READ_KEY = 'rk_test_the_reader_of_this_account'

/** The harness of one test. Everything that it opens is closed after the test. */
export interface ReaderHarness {
  clock: IdleClock
  /** Opens a reader of the API at this address. */
  openReader(apiBase: string, more?: Partial<ReaderOptions>): ProviderReader
  /** Opens an account of the provider on the simulator, and a reader of it. */
  openAccount(): Promise<{ account: TestAccount; reader: ProviderReader }>
  /** Starts a server that gives this answer to every request. */
  serve(answer: Answer): Promise<Receiver>
  /** Opens a reader that may connect only to public addresses. */
  openGuardedReader(apiBase: string): ProviderReader
  refundTargets(providerRef: string | null, ...objectIds: string[]): readonly ReadTarget[]
  endTargets(...objectIds: string[]): readonly ReadTarget[]
  /** Reads the targets with a deadline of one minute. */
  ask(reader: ProviderReader, targets: readonly ReadTarget[]): Promise<ReadResult>
  /** Reads the targets with a deadline of one minute. @returns the sightings @throws Error for a failure and for not_found */
  find(reader: ProviderReader, targets: readonly ReadTarget[]): Promise<Sighting[]>
  /** The sightings in the objects. @throws Error for a malformed object */
  meaningsOf(objects: readonly ReadObject[]): Sighting[]
}

/** Creates the harness and registers its set-up and clean-up. Call it in `describe`, and use the result in the tests. */
export function useReaderHarness(provider: Provider, openTestAccount: OpenTestAccount): ReaderHarness {
  const closers: (() => Promise<void>)[] = []
  const logger = createLogger('test', 'silent')
  const openEgress = (allowCidrs: string[]) => {
    const egress = createEgress({ allowCidrs, denyCidrs: [], logger })
    closers.push(() => egress.stop())
    return egress
  }
  let local = openEgress([])
  beforeEach(() => {
    harness.clock = createIdleClock(START)
    local = openEgress(['127.0.0.0/8'])
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  const harness: ReaderHarness = {
    clock: createIdleClock(START),
    openReader(apiBase, more = {}) {
      const { clock } = harness
      const common = { readKey: new Secret(TEST_READ_KEY), site: 'acme', apiBase, clock, random: () => 0.5 }
      return provider.readBack.open({ ...common, egress: clock.stopDuringRequests(local), ...more })
    },
    async openAccount() {
      const account = await openTestAccount(TEST_READ_KEY, harness.clock.now)
      closers.push(account.api.stop)
      return { account, reader: harness.openReader(account.api.url) }
    },
    async serve(answer) {
      const server = await startReceiver(answer)
      closers.push(server.stop)
      return server
    },
    openGuardedReader: apiBase => harness.openReader(apiBase, { egress: openEgress([]) }),
    refundTargets: (providerRef, ...objectIds) =>
      provider.readBack.targetsOf({ action: 'refund', providerRef, objectIds }),
    endTargets: (...objectIds) => provider.readBack.targetsOf({ action: 'cancellation', providerRef: null, objectIds }),
    ask: (reader, targets) => reader.read(targets, MINUTE),
    async find(reader, targets) {
      const read = await harness.ask(reader, targets)
      if (read.kind !== 'read') throw new Error(JSON.stringify(read))
      return harness.meaningsOf(read.objects)
    },
    meaningsOf(objects) {
      const origin = { projectId: 'prj_1', connectionId: 'con_1', site: 'acme', readAt: harness.clock.now() }
      return objects.flatMap(({ type, body }) => {
        const meaning = provider.normaliseObject(origin, type, body)
        if (meaning.kind === 'malformed') throw new Error(meaning.reason)
        return meaning.kind === 'observed' ? meaning.sightings : []
      })
    },
  }
  return harness
}
