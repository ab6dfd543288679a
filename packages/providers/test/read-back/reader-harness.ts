/** What the tests of reading back share: a reader over real HTTP, its servers, and what the objects that it gives mean. */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import { createEgress, createLogger, Secret } from '@backstop/kit'
import { type Answer, type Receiver, startReceiver } from '@backstop/kit/test'
import { afterEach, beforeEach } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import type { ProviderReader, ReaderOptions, ReadResult } from '../../src/read-back.ts'
import type { Sighting } from '../../src/sighting.ts'
import { createIdleClock, type IdleClock } from './idle-clock.ts'
import type { OpenWorld, ReadBackWorld } from './test-accounts.ts'

export const START = Date.parse('2026-03-01T12:00:00Z')
export const MINUTE = 60_000
export const KEY = 'rk_test_the_reader_of_this_account'

/** One test's surroundings. All that is opened is closed after it. */
export interface Setting {
  clock: IdleClock
  /** A reader of the API at this address. */
  openReader(apiBase: string, more?: Partial<ReaderOptions>): ProviderReader
  /** The provider's account on the simulator, and its reader. */
  openAccount(): Promise<{ world: ReadBackWorld; reader: ProviderReader }>
  /** A server that answers so. */
  serve(answer: Answer): Promise<Receiver>
  /** A reader that may reach public addresses alone. */
  openGuardedReader(apiBase: string): ProviderReader
  refundTargets(providerRef: string | null, ...objectIds: string[]): readonly ReadTarget[]
  endTargets(...objectIds: string[]): readonly ReadTarget[]
  /** Wants an answer within a minute. */
  ask(reader: ProviderReader, targets: readonly ReadTarget[]): Promise<ReadResult>
  /** Reads, within a minute, and says what was read means. Throws for anything but a read. */
  find(reader: ProviderReader, targets: readonly ReadTarget[]): Promise<Sighting[]>
  /** What the objects mean. Throws for one that is malformed. */
  meaningsOf(objects: readonly ReadObject[]): Sighting[]
}

/** To be called where tests are described; what it gives is for the tests. */
export function useSetting(provider: Provider, openWorld: OpenWorld): Setting {
  const closers: (() => Promise<void>)[] = []
  const logger = createLogger('test', 'silent')
  const openEgress = (allowCidrs: string[]) => {
    const egress = createEgress({ allowCidrs, denyCidrs: [], logger })
    closers.push(() => egress.stop())
    return egress
  }
  let local = openEgress([])
  beforeEach(() => {
    setting.clock = createIdleClock(START)
    local = openEgress(['127.0.0.0/8'])
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  const setting: Setting = {
    clock: createIdleClock(START),
    openReader(apiBase, more = {}) {
      const { clock } = setting
      const common = { readKey: new Secret(KEY), site: 'acme', apiBase, clock, random: () => 0.5 }
      return provider.readBack.open({ ...common, egress: clock.watch(local), ...more })
    },
    async openAccount() {
      const world = await openWorld(KEY, setting.clock.now)
      closers.push(world.api.stop)
      return { world, reader: setting.openReader(world.api.url) }
    },
    async serve(answer) {
      const server = await startReceiver(answer)
      closers.push(server.stop)
      return server
    },
    openGuardedReader: apiBase => setting.openReader(apiBase, { egress: openEgress([]) }),
    refundTargets: (providerRef, ...objectIds) =>
      provider.readBack.targetsOf({ action: 'refund', providerRef, objectIds }),
    endTargets: (...objectIds) => provider.readBack.targetsOf({ action: 'cancellation', providerRef: null, objectIds }),
    ask: (reader, targets) => reader.read(targets, MINUTE),
    async find(reader, targets) {
      const read = await setting.ask(reader, targets)
      if (read.kind !== 'read') throw new Error(JSON.stringify(read))
      return setting.meaningsOf(read.objects)
    },
    meaningsOf(objects) {
      const origin = { projectId: 'prj_1', connectionId: 'con_1', site: 'acme', readAt: setting.clock.now() }
      return objects.flatMap(({ type, body }) => {
        const meaning = provider.normaliseObject(origin, type, body)
        if (meaning.kind === 'malformed') throw new Error(meaning.reason)
        return meaning.kind === 'observed' ? meaning.sightings : []
      })
    },
  }
  return setting
}
