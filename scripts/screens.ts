/**
 * `npm run screens` takes a picture of each page of the console with the demo's week: light, dark, in the width of a phone and for paper;
 * empty, loading, failed, without live updates and with hundreds of rows; and with texts that are hard to show. The pictures are written to .backstop/screens.
 * It uses the product that `npm start` runs here, or starts one.
 *
 *     npm run screens -- empty phone    only albums and looks with these names
 *     npm run screens -- docs           only the pictures of docs/pictures, and renews them
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Project, Stats } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { progressOn } from '@backstop/stack'
import { buildConsole } from '../packages/console/scripts/build-console.ts'
import { findChromium } from './browser/chromium.ts'
import { createAwkwardProject } from './screens/awkward-project.ts'
import { type Album, LOOKS, type Look, openCamera } from './screens/camera.ts'
import { createManyProject } from './screens/many-project.ts'
import { listsOf, type Places, SYSTEM_PLACES, thingsOf } from './screens/places.ts'
import type { DemoRecords } from './start/demo/demo-records.ts'
import { runDemoWeek, type WeekRecord } from './start/demo/week/run-week.ts'
import { createManagementApi, type ManagementApi } from './start/management-api.ts'
import { startProduct } from './start/product.ts'
import { createRunRecords } from './start/run-file.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, '.backstop/screens')
const DOCS_FOLDER = join(ROOT, 'docs/pictures')

/** The pictures of docs/console.md and the README: place and look. */
const DOCS_PICTURES: readonly (readonly [string, Look])[] = [
  ['overview', 'light'],
  ['overview', 'dark'],
  ['incident', 'light'],
  ['incident', 'dark'],
  ['incident', 'phone'],
  ['connection-read', 'light'],
  ['connection-read', 'dark'],
  ['storm', 'light'],
]

/** What a reader of a document looks at. A higher picture has more than 100 KB. */
const DOCS_HEIGHT_PX = 1_290

/** The second look comes after this time, so that the week is whole soon. */
const RECHECK_DELAY_MS = 3_000
const SETTLED_WITHIN_MS = 240_000

interface Running {
  readonly api: ManagementApi
  readonly url: string
  stop(): Promise<void>
}

/** The product of `npm start`, or a new one with the demo's week. */
async function findProduct(): Promise<Running> {
  const run = createRunRecords(join(ROOT, '.backstop')).readRun()
  if (run !== undefined) return { api: createManagementApi(run.admin, run.key), url: run.admin, stop: async () => {} }
  const dataDir = mkdtempSync(join(tmpdir(), 'backstop-screens-'))
  const product = await startProduct({
    dataDir,
    env: process.env,
    recheckDelayMs: RECHECK_DELAY_MS,
    log: progressOn(process.stdout),
  })
  const stop = async () => {
    await product.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const api = createManagementApi(product.urls.admin, product.key)
    const week = await runDemoWeek({ api, records: recordsInMemory() })
    if (week.kind !== 'made') throw new Error('The week was not made')
    console.log('Filling the demo project…')
    await week.whole
    await untilJudged(api, week.projectId)
    return { api, url: product.urls.admin, stop: () => week.stop().then(stop) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits until each change has its verdict, each day its count and each message its end, because the pictures show all of them. */
async function untilJudged(api: ManagementApi, projectId: string): Promise<void> {
  const isEmpty = async (path: string) => {
    const { data } = await api.get<{ data: object[] }>(`${path}&project_id=${projectId}&limit=1`)
    return data.length === 0
  }
  await until(
    'the end of the work on the demo project',
    async () =>
      (await isEmpty('/v1/actions?verdict=pending')) &&
      (await isEmpty('/v1/deliveries?state=pending')) &&
      (await isEmpty('/v1/deliveries?state=retrying')) &&
      !(await api.get<Stats>(`/v1/stats?project_id=${projectId}`)).recount_pending,
    { timeoutMs: SETTLED_WITHIN_MS, everyMs: 1_000 },
  )
}

function recordsInMemory(): DemoRecords<WeekRecord> {
  let kept: WeekRecord | undefined
  return {
    read: () => kept,
    write(record) {
      kept = record
    },
  }
}

async function weekOf(api: ManagementApi): Promise<Places> {
  const { data } = await api.get<{ data: Project[] }>('/v1/projects')
  const week = data.find(({ demo, name }) => demo === true && name === 'Example company')
  if (week === undefined) throw new Error('The project of the demo is missing. Add it:  npm run demo:week')
  return { ...listsOf(week.project_id), ...(await thingsOf(api, week.project_id)) }
}

function choose(places: Places, ...names: string[]): Places {
  return Object.fromEntries(names.flatMap(name => (places[name] === undefined ? [] : [[name, places[name]]])))
}

type AlbumPlan = Omit<Album, 'places'> & { places(api: ManagementApi): Places | Promise<Places> }

const ALL_LOOKS = Object.keys(LOOKS) as Look[]
const ALBUMS: readonly AlbumPlan[] = [
  { name: 'week', looks: ALL_LOOKS, places: async api => ({ ...(await weekOf(api)), ...SYSTEM_PLACES }) },
  {
    name: 'print',
    looks: ['light', 'dark'],
    state: 'print',
    async places(api) {
      const names = ['incident', 'storm', 'statements', 'statements-compared', 'completeness', 'customer', 'action']
      return choose(await weekOf(api), ...names, 'overview')
    },
  },
  { name: 'loading', looks: ALL_LOOKS, state: 'loading', places: weekOf },
  { name: 'error', looks: ALL_LOOKS, state: 'error', places: weekOf },
  {
    name: 'stale',
    looks: ['light', 'phone'],
    state: 'stale',
    places: async api => choose(await weekOf(api), 'overview', 'incidents', 'incident', 'connections'),
  },
  {
    name: 'empty',
    looks: ALL_LOOKS,
    places: async api => listsOf((await api.post<Project>('/v1/projects', { name: 'Empty' })).project_id),
  },
  {
    name: 'many',
    looks: ['light', 'phone'],
    async places(api) {
      const id = await createManyProject(api)
      const places = { ...listsOf(id), ...(await thingsOf(api, id)) }
      return choose(
        places,
        'overview',
        'incidents',
        'storms',
        'storm',
        'actions',
        'operations',
        'deliveries',
        'connection',
      )
    },
  },
  {
    name: 'awkward',
    looks: ['light', 'phone'],
    async places(api) {
      const id = await createAwkwardProject(api)
      return { ...listsOf(id), ...(await thingsOf(api, id)) }
    },
  },
]

async function takeDocsPictures(program: string, { api, url }: Running): Promise<void> {
  const camera = await openCamera(program, { api, url, folder: FOLDER })
  try {
    const places = await weekOf(api)
    for (const [name, look] of DOCS_PICTURES) {
      await camera.take({ name: 'docs', looks: [look], places: choose(places, name), maxHeightPx: DOCS_HEIGHT_PX })
      copyFileSync(join(FOLDER, `docs.${name}.${look}.webp`), join(DOCS_FOLDER, `console.${name}.${look}.webp`))
    }
  } finally {
    await camera.close()
  }
}

/** @param names the names of albums and looks; all if there is none */
async function takeAlbums(program: string, { api, url }: Running, names: readonly string[]): Promise<void> {
  const looks = ALL_LOOKS.filter(look => names.includes(look))
  const albums = ALBUMS.filter(({ name }) => names.includes(name))
  const camera = await openCamera(program, { api, url, folder: FOLDER })
  try {
    for (const { places, ...album } of albums.length === 0 ? ALBUMS : albums) {
      const chosen = looks.length === 0 ? album.looks : album.looks.filter(look => looks.includes(look))
      console.log(`${album.name}: ${chosen.join(', ')}`)
      await camera.take({ ...album, looks: chosen, places: await places(api) })
    }
    for (const fault of camera.faults()) console.log(`✗ ${fault}`)
  } finally {
    await camera.close()
  }
}

const program = await findChromium(process.env)
if (program === null) {
  process.stderr.write('No Chromium for this system: set CHROMIUM to the path of one\n')
  process.exit(1)
}
await buildConsole(line => console.log(line))
const names = process.argv.slice(2)
if (names.length === 0) rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const running = await findProduct()
try {
  await (names.includes('docs') ? takeDocsPictures(program, running) : takeAlbums(program, running, names))
} finally {
  await running.stop()
}
console.log(`The pictures are in ${FOLDER}`)
process.exit(0)
