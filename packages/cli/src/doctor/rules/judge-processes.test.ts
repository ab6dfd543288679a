import { SERVICES } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { judgeProcesses, type ProcessFacts } from './judge-processes.ts'

const key = (key_id: string, fingerprint: string) => ({ key_id, fingerprint })
const process = (service: ProcessFacts['service'], change: Partial<ProcessFacts> = {}): ProcessFacts => ({
  ...{ process_id: `${service}-1`, service, version: '1.2.3+gabcdef1', state: 'ready', unready: null },
  ...{ reported_at: '2026-11-28T10:00:00.000Z', keys: [key('k1', 'aa')] },
  ...change,
})
const healthy = SERVICES.map(service => process(service))
const judge = (...changed: ProcessFacts[]) =>
  judgeProcesses([
    ...healthy.filter(({ process_id }) => !changed.some(other => other.process_id === process_id)),
    ...changed,
  ])
const textsOf = (...changed: ProcessFacts[]) => judge(...changed).map(({ code, what }) => `${code}: ${what}`)

test('one ready process of each service, and a process that was replaced, are no fault', () => {
  expect(judge(process('ingress', { process_id: 'ingress-0', state: 'replaced', keys: [key('k1', 'zz')] }))).toEqual([])
})

test('a process that is not ready is named with its reason, also beside a ready one of its service', () => {
  const change = { process_id: 'ingress-2', state: 'not_ready', unready: 'The process is stopping' } as const
  expect(textsOf(process('ingress', change))).toEqual([
    'process_not_ready: ingress ingress-2 is not ready: The process is stopping',
  ])
})

test('a service without a process that reports is named, and not its silent processes', () => {
  expect(textsOf(process('notifier', { state: 'silent' }))).toEqual([
    'service_missing: No process of notifier reports that it runs',
  ])
  expect(judgeProcesses([]).map(({ code }) => code)).toEqual(Array(4).fill('service_missing'))
})

test('a process that stopped reporting is named while another one of its service is alive', () => {
  const [found, ...others] = judge(process('notifier', { process_id: 'notifier-2', state: 'silent' }))
  expect(found).toMatchObject({
    code: 'process_silent',
    severity: 'warning',
    what: expect.stringMatching(/^notifier notifier-2 has not reported since 2026-11-28T10:00:00/),
  })
  expect(others).toEqual([])
})

test('a process with another key under the same id, and one without a key of the others, are named', () => {
  expect(textsOf(process('notifier', { keys: [key('k1', 'bb')] }))).toEqual([
    'wrong_secret_key: SECRET_KEYS of notifier notifier-1 has another key under the id "k1" than ingress ingress-1, reconciler reconciler-1, admin-api admin-api-1',
  ])
  const twoKeys = { keys: [key('k1', 'aa'), key('k2', 'cc')] }
  const some = (['ingress', 'reconciler', 'admin-api'] as const).map(service => process(service, twoKeys))
  expect(textsOf(...some)).toEqual([
    'wrong_secret_key: SECRET_KEYS of notifier notifier-1 lacks the key "k2" of ingress ingress-1, reconciler reconciler-1, admin-api admin-api-1',
  ])
})

test('different versions are a note', () => {
  expect(judge(process('ingress', { version: '1.3.0+g0000000' }))).toMatchObject([
    {
      code: 'versions_differ',
      severity: 'note',
      what: 'Processes have different versions: 1.2.3+gabcdef1 (reconciler reconciler-1, notifier notifier-1, admin-api admin-api-1); 1.3.0+g0000000 (ingress ingress-1)',
    },
  ])
})
