/** Measures the console in Chromium, built as for production and served by admin-api, with many refunds stored. */
import { join } from 'node:path'
import { type Db, MongoClient } from 'mongodb'
import { buildConsole, readConsoleSizes } from '../../packages/console/scripts/build-console.ts'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { startProduct } from '../../scripts/start/product.ts'
import { STORED, type StoredCounts, storeData } from '../admin/stored-data.ts'
import type { Benchmark, Comparison, Contender } from '../frame/benchmark.ts'
import { amountOf, type ConsoleReader, openReader } from './reader.ts'

const COUNTS: StoredCounts = { actions: 100_000, incidents: 5_000, deliveries: 20_000, stormMembers: 500 }
const SCROLLED_ROWS = 10_000
/** An hour with one change a second. */
const LIVE_UPDATES = 3_600
/** Rows of a list that are in view on a small screen, so that every change is drawn. */
const SHOWN_ROWS = 12
const KB = 1_000

const BUDGETS = { initialKb: 200, pageKb: 60, firstContentMs: 1_000, pageChangeMs: 100, frameMs: 50, growthMb: 2 }

const rowsOf = (label: string) => `section[aria-label="${label}"][aria-busy="false"] [data-index]`
/** Places by name: the path, and what is on the screen when a reader can begin. */
const PLACES = {
  overview: { path: `/p/${STORED.project}`, shown: 'a[data-verdict], a [data-verdict]' },
  incidents: { path: `/p/${STORED.project}/incidents`, shown: rowsOf('Incidents') },
  refunds: { path: `/p/${STORED.project}/actions`, shown: rowsOf('Refunds and cancellations') },
  connections: { path: `/p/${STORED.project}/connections`, shown: rowsOf('Connections') },
} as const
const OPENED = {
  ...PLACES,
  'a refund': { path: `/p/${STORED.project}/actions/act_bench_50000`, shown: 'section[aria-labelledby="why"]' },
  // Its last part is whole with the last of its members.
  'a storm of 500': { path: `/p/${STORED.project}/storms/${STORED.storm}`, shown: rowsOf('Incidents of the storm') },
  'a month in ten currencies': {
    path: `/p/${STORED.project}/statements?month=${STORED.month}`,
    shown: 'table tbody tr',
  },
}

export const consoleBenchmark: Benchmark = {
  name: 'console',
  about: `size, speed and memory of the console with ${COUNTS.actions.toLocaleString('en')} refunds and cancellations stored`,
  async open({ stack, folder, log }) {
    const build = log.step('console')
    build.done(await buildConsole(line => build.update(line)))
    const product = await startProduct({
      dataDir: join(folder, 'console'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `console-${Date.now().toString(36)}.`,
      only: ['admin-api'],
    })
    const client = new MongoClient(stack.mongo)
    const db = client.db(product.database)
    const step = log.step('stored documents')
    await storeData(db, COUNTS, inserted => step.update(inserted.toLocaleString('en')))
    step.done('stored')
    const reader = await openReader(createManagementApi(product.urls.admin, product.key), product.urls.admin)
    return {
      comparisons: [sizes(), firstContent(reader), pageChange(reader), scrolling(reader), memory(reader, db)],
      async stop() {
        await reader.close()
        await db.dropDatabase()
        await client.close()
        await product.stop()
      },
    }
  },
}

function sizes(): Comparison {
  const { initial, pages } = readConsoleSizes()
  const [largest = { page: 'no page', bytes: 0 }] = pages
  const page = `largest page: ${largest.page}`
  const compressed = 'compressed'
  return {
    name: 'JavaScript',
    readings: { [compressed]: 'KB' },
    contenders: [
      { name: 'initial', measure: async () => ({ [compressed]: initial / KB }) },
      { name: page, measure: async () => ({ [compressed]: largest.bytes / KB }) },
    ],
    targets: [
      { reading: compressed, of: 'initial', is: 'at most', value: BUDGETS.initialKb },
      { reading: compressed, of: page, is: 'at most', value: BUDGETS.pageKb },
    ],
  }
}

function firstContent(reader: ConsoleReader): Comparison {
  const reading = 'first content, empty cache'
  const contenders: Contender[] = Object.entries(OPENED).map(([name, place]) => ({
    name,
    measure: async () => ({ [reading]: await reader.timeOpening(place) }),
  }))
  const targetOf = ({ name }: Contender) =>
    ({ reading, of: name, is: 'at most', value: BUDGETS.firstContentMs }) as const
  return { name: 'Opening a page', readings: { [reading]: 'ms' }, contenders, targets: contenders.map(targetOf) }
}

function pageChange(reader: ConsoleReader): Comparison {
  const first = 'content, first visit'
  const again = 'content, visited before'
  const { overview, ...others } = PLACES
  const contenders: Contender[] = Object.entries(others).map(([name, place]) => ({
    name,
    async measure() {
      const [firstMs, againMs] = await reader.timeChanges(overview, place)
      return { [first]: firstMs, [again]: againMs }
    },
  }))
  const targets = contenders.flatMap(({ name }) =>
    [first, again].map(reading => ({ reading, of: name, is: 'at most', value: BUDGETS.pageChangeMs }) as const),
  )
  return { name: 'From the overview to a page', readings: { [first]: 'ms', [again]: 'ms' }, contenders, targets }
}

function scrolling(reader: ConsoleReader): Comparison {
  const name = `${SCROLLED_ROWS.toLocaleString('en')} rows`
  const [p99, longest] = ['frame, p99', 'frame, longest']
  return {
    name: 'Scrolling',
    readings: { [p99]: 'ms', [longest]: 'ms' },
    contenders: [
      {
        name,
        async measure() {
          const frames = await reader.scroll(PLACES.refunds, SCROLLED_ROWS)
          return { [p99]: frames.p99Ms, [longest]: frames.longestMs }
        },
      },
    ],
    targets: [{ reading: longest, of: name, is: 'at most', value: BUDGETS.frameMs }],
  }
}

/** The list of refunds is open while its first rows change, one after the other. */
function memory(reader: ConsoleReader, db: Db): Comparison {
  const name = `${LIVE_UPDATES.toLocaleString('en')} live updates`
  const actions = db.collection<{ _id: string; amount: number; currency: string; version: number }>('actions')
  const changeOne = async (index: number) => {
    const _id = `act_bench_${COUNTS.actions - 1 - (index % SHOWN_ROWS)}`
    await actions.updateOne({ _id }, { $set: { amount: amountOf(index), currency: 'eur' }, $inc: { version: 1 } })
  }
  const [before, growth] = ['heap before', 'growth']
  return {
    name: 'Memory of a page',
    readings: { [before]: 'MB', [growth]: 'MB' },
    contenders: [
      {
        name,
        async measure() {
          const heap = await reader.growthOver(PLACES.refunds, LIVE_UPDATES, changeOne)
          return { [before]: heap.beforeMb, [growth]: heap.afterMb - heap.beforeMb }
        },
      },
    ],
    targets: [{ reading: growth, of: name, is: 'at most', value: BUDGETS.growthMb }],
  }
}
