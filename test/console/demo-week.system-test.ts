/** The demo's week on a real product: created, judged as planned, every place usable by everybody, and removed by one call. */
import { readFileSync } from 'node:fs'
import type { Action, Connection, Incident, Project, ShownOperation, Stats } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAwkwardProject } from '../../scripts/screens/awkward-project.ts'
import { listsOf, SYSTEM_PLACES, thingsOf } from '../../scripts/screens/places.ts'
import type { DemoRecords } from '../../scripts/start/demo/demo-records.ts'
import { runDemoWeek, type WeekRecord } from '../../scripts/start/demo/week/run-week.ts'
import { ApiRefusal, createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'
import { openProduct } from '../setup/product.ts'
import { type ConsoleBrowser, type ConsoleTab, openConsoleBrowser } from './console-browser.ts'
import { controlsOf, openPlace, pixelsBesidePhone, pressKeys, violationsOf } from './places.ts'
import { FIRST_QUESTIONS } from './questions/first-questions.ts'
import { NEXT_QUESTIONS } from './questions/next-questions.ts'
import { type Answered, askQuestion, rowOf, slowAnswers } from './questions/question.ts'

const DAY_MS = 86_400_000
const stops: (() => Promise<void>)[] = []
const records = recordsInMemory()
let product: Product
let api: ManagementApi
let id: string
let browser: ConsoleBrowser
let tab: ConsoleTab
const list = async <T>(path: string): Promise<T[]> => (await api.get<{ data: T[] }>(path)).data

beforeAll(async () => {
  product = await openProduct('demo-week', { recheckDelayMs: 4_000 })
  stops.push(() => product.stop())
  api = createManagementApi(product.urls.admin, product.key)
  const week = await runDemoWeek({ api, records })
  if (week.kind !== 'made') throw new Error('The week was not made')
  stops.push(week.stop)
  id = week.projectId
  expect(await week.whole).toBe(true)
  browser = await openConsoleBrowser()
  stops.push(browser.close)
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

beforeEach(async () => {
  tab = await browser.openTab(product.urls.admin)
})
afterEach(async () => {
  expect(tab.faults()).toEqual([])
  await tab.close()
})

function recordsInMemory(): DemoRecords<WeekRecord> {
  let kept: WeekRecord | undefined
  return {
    read: () => kept,
    write: record => {
      kept = record
    },
  }
}

/** What the providers and the software of the demo lead to. */
const VERDICTS = [
  'processor explained expected_change_matches',
  'processor explained idempotency_key_matches',
  'processor explained provider_ref_matches',
  'processor not_alerted out_of_band_ignore',
  'processor unexplained nothing_explains_it',
  'reseller explained amount_and_time_match',
  'reseller explained provider_ref_matches',
  'reseller unexplained nothing_explains_it',
  'subscription explained amount_and_time_match',
  'subscription explained provider_ref_matches',
  'subscription not_alerted kind_is_not_judged',
  'subscription unexplained nothing_explains_it',
]

test('the demo has a week of verdicts of all providers', async () => {
  expect(await api.get<Project>(`/v1/projects/${id}`)).toMatchObject({ demo: true, archived_at: null })
  const actions = () => list<Action>(`/v1/actions?project_id=${id}&limit=200`)
  const verdictsOf = (all: readonly Action[]) =>
    [...new Set(all.map(({ provider, verdict, reason }) => `${provider} ${verdict} ${reason}`))].toSorted()
  const judged = await until(
    'all verdicts',
    async () => {
      const all = await actions()
      return verdictsOf(all).length >= VERDICTS.length && all.every(({ verdict }) => verdict !== 'pending')
        ? all
        : undefined
    },
    { timeoutMs: 120_000, everyMs: 500 },
  )
  expect(verdictsOf(judged)).toEqual(VERDICTS)
  expect(judged.length).toBeGreaterThanOrEqual(70)
  expect(judged.map(({ customer }) => customer?.name)).toContain('يوسف الحدّاد')
  const stats = await until('the counts of all days', async () => {
    const counted = await api.get<Stats>(`/v1/stats?project_id=${id}`)
    return counted.recount_pending ? undefined : counted
  })
  const days = Map.groupBy(stats.series, ({ at }) => at)
  expect(days.size).toBeGreaterThan(4)
  const counts = [...days].map(([at, totals]) => [at, totals.reduce((sum, { count }) => sum + count, 0)])
  const lists = [...days.keys()].map(async at => {
    const period = `made_from=${at}&made_to=${new Date(Date.parse(at) + DAY_MS).toISOString()}`
    return [at, (await list(`/v1/actions?project_id=${id}&${period}&limit=200`)).length]
  })
  expect(await Promise.all(lists)).toEqual(counts)
  const incidents = await list<Incident>(`/v1/incidents?project_id=${id}&limit=200`)
  expect(new Set(incidents.map(({ state }) => state))).toEqual(new Set(['open', 'acknowledged', 'resolved']))
  expect(await list(`/v1/storms?project_id=${id}`)).toHaveLength(1)
  expect(await list<ShownOperation>(`/v1/operations?project_id=${id}&state=approval_pending`)).toHaveLength(1)
  expect((await list(`/v1/budgets?project_id=${id}`)).length).toBe(2)
  expect(await list(`/v1/runs?project_id=${id}`)).toHaveLength(1)
  const connections = await list<Connection>(`/v1/projects/${id}/connections`)
  expect(new Set(connections.map(({ status }) => status))).toEqual(new Set(['active']))
  for (const { config } of await list<{ config: object }>(`/v1/alert-channels?project_id=${id}`)) {
    expect(JSON.stringify(config)).toMatch(/http:\/\/127\.0\.0\.1:|"kind":"slack"/)
  }
})

test('no place breaks WCAG 2.2 A or AA, in light and in dark, and none is wider than a phone', async () => {
  const { page } = tab
  const found: [string, string[], number][] = []
  const look = async (name: string, path: string) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await openPlace(page, path)
    found.push([name, await violationsOf(page), await pixelsBesidePhone(page)])
  }
  await look('sign-in', '/sign-in')
  await tab.startSession(product.key)
  const places = { ...listsOf(id), ...(await thingsOf(api, id)), ...SYSTEM_PLACES }
  for (const [name, path] of Object.entries(places)) await look(name, path)
  expect(found.filter(([, violations, pixels]) => violations.length > 0 || pixels > 0)).toEqual([])
  expect(found.length).toBeGreaterThan(35)
})

test('no place is wider than a phone if names are long and amounts have three decimals', async () => {
  const { page } = tab
  const awkward = await createAwkwardProject(api)
  await tab.startSession(product.key)
  const wide: string[] = []
  for (const [name, path] of Object.entries({ ...listsOf(awkward), ...(await thingsOf(api, awkward)) })) {
    await openPlace(page, path)
    const pixels = await pixelsBesidePhone(page)
    if (pixels > 0) wide.push(`${name} by ${pixels} px`)
  }
  for (const { connection_id } of await list<Connection>(`/v1/projects/${awkward}/connections`))
    await api.delete(`/v1/projects/${awkward}/connections/${connection_id}`)
  await api.patch(`/v1/projects/${awkward}`, { archived: true })
  expect(wide).toEqual([])
})

/** Buttons that need no scope but `read`. */
const READS = /^(Copy |Download$|Print$|Try again$|\d+ new$)/
/** Kinds of places whose controls depend on what they show. */
const THINGS = ['incident', 'storm', 'action', 'operation', 'operation-waiting', 'budget', 'run', 'channel', 'delivery']

test('shows a viewer no control that the API refuses on any place, and no key changes anything', async () => {
  const roles = [{ project_id: id, role: 'viewer' }]
  const { person_id } = await api.post<{ person_id: string }>('/v1/people', { name: 'Vera Viewer', roles })
  const { url } = await api.post<{ url: string }>('/v1/sign-in-links', { person_id })
  const { page } = tab
  await tab.open(url)
  await page.waitForURL(address => address.pathname.startsWith('/p/'))
  const wrong: string[] = []
  page.on('request', request => {
    if (request.method() !== 'GET') wrong.push(`${request.method()} ${request.url()}`)
  })
  page.on('response', response => {
    if (response.status() === 403) wrong.push(`403 of ${response.url()}`)
  })
  const things = await thingsOf(api, id)
  expect(Object.keys(things)).toEqual(expect.arrayContaining(THINGS))
  const tabs = [
    ...['inbox', 'secrets', 'setup'].map(name => `${things.connection}?tab=${name}`),
    ...['deliveries', 'replays'].map(name => `${things.channel}?tab=${name}`),
  ]
  const paths = [...Object.values({ ...listsOf(id), ...things, ...SYSTEM_PLACES }), ...tabs]
  for (const path of paths) {
    await openPlace(page, path)
    // Before the name is shown, the rights are unknown, and no control is shown to anybody.
    await page.getByRole('button', { name: 'Vera Viewer' }).waitFor()
    wrong.push(...(await controlsOf(page)).filter(name => !READS.test(name)).map(name => `${path}: ${name}`))
    await pressKeys(page, ['a', 'r'])
    // The link of a message opens one that says whom to ask for the right.
    const isAsked = path.includes('?do=')
    if (!isAsked && (await page.getByRole('dialog').count()) > 0) wrong.push(`${path}: a dialog`)
  }
  expect(wrong).toEqual([])
})

// No second attempt: the first one has resolved incidents.
test('each question of docs/console.md is answered with its number of clicks, fewer than three, and on a usual machine within ten seconds', {
  retry: 0,
}, async ({ annotate }) => {
  const actions = await list<Action>(`/v1/actions?project_id=${id}&limit=200`)
  const nearMiss = actions.find(({ amount, customer }) => amount === 129_000 && customer?.name === 'Bruno Lindqvist')
  expect(nearMiss?.why?.closest).toMatchObject({ failure: 'other_amount' })
  const incidentOf = (action: Action | undefined) => `/p/${id}/incidents/${action?.incident_id}`
  const unexplained = (amount: number) =>
    incidentOf(actions.find(action => action.verdict === 'unexplained' && action.amount === amount))
  const incident = incidentOf(nearMiss)
  const starts = {
    ...{ overview: `/p/${id}`, incident, silence: `${incident}?do=silence` },
    ...{ named: unexplained(7_900), other: unexplained(4_990), another: unexplained(2_999) },
  }
  await tab.startSession(product.key)
  const answers: Answered[] = []
  for (const question of [...FIRST_QUESTIONS, ...NEXT_QUESTIONS])
    answers.push(await askQuestion(tab.page, starts, question))
  await annotate(answers.map(({ asks, clicks, ms }) => `| ${asks} | ${clicks} | ${ms} ms |`).join('\n'))
  expect(slowAnswers(answers)).toEqual([])
  const page = readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8')
  expect(page.match(/^\|.*\| (overview|alert) \| \d+ \|$/gm)).toEqual(answers.map(rowOf))
})

test('one button removes the demo', async () => {
  await tab.startSession(product.key)
  await tab.open(`/p/${id}/incidents`)
  await tab.page.getByText('Demo', { exact: true }).waitFor()
  await tab.page.getByRole('button', { name: 'Remove the demo' }).click()
  await tab.page.getByRole('dialog').getByRole('button', { name: 'Remove the demo' }).click()
  await tab.page.getByRole('heading', { name: 'There is no project yet' }).waitFor()
  expect(await list(`/v1/projects/${id}/connections`)).toEqual([])
  expect(await list(`/v1/alert-channels?project_id=${id}`)).toEqual([])
  expect(await list<Project>('/v1/projects')).toEqual([])
  expect(await runDemoWeek({ api, records })).toEqual({ kind: 'removed' })
  await expect(api.delete(`/v1/projects/${id}`)).rejects.toBeInstanceOf(ApiRefusal)
})
