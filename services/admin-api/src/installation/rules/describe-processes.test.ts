import type { ProcessDocument } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { describeProcesses } from './describe-processes.ts'

const NOW = Date.parse('2026-11-28T10:00:00Z')
const process = (_id: string, startedS: number, reportedS: number, change: Partial<ProcessDocument> = {}) => ({
  ...{ _id, service: 'notifier' as const, version: '1.2.3', unready: null, keys: [], clock_ahead_ms: 0 },
  started_at: new Date(NOW - startedS * 1_000),
  reported_at: new Date(NOW - reportedS * 1_000),
  ...change,
})
const statesOf = (...documents: ProcessDocument[]) =>
  describeProcesses(documents, NOW).map(({ process_id, state }) => `${process_id} ${state}`)

test('a process is silent after a minute without a report, whether it was ready or not', () => {
  expect(statesOf(process('a', 900, 59))).toEqual(['a ready'])
  expect(statesOf(process('a', 900, 59, { unready: 'The process is stopping' }))).toEqual(['a not_ready'])
  expect(statesOf(process('a', 900, 60, { unready: 'The process is stopping' }))).toEqual(['a silent'])
})

test('a process that started after the last report replaces one silent process of its service', () => {
  expect(statesOf(process('dead', 900, 90), process('older', 800, 5))).toEqual(['older ready', 'dead silent'])
  expect(statesOf(process('dead', 900, 90), process('new', 80, 5))).toEqual(['new ready', 'dead replaced'])
  expect(statesOf(process('dead', 900, 90), process('new', 80, 5, { service: 'ingress' }))).toEqual([
    'new ready',
    'dead silent',
  ])
  expect(statesOf(process('dead', 900, 90), process('dead too', 901, 95), process('new', 80, 5))).toEqual([
    'new ready',
    'dead silent',
    'dead too replaced',
  ])
})

test('a process that was replaced stays so when its successor falls silent, and only the newest one is silent', () => {
  expect(statesOf(process('dead', 900, 150), process('second', 140, 90), process('third', 80, 60))).toEqual([
    'third silent',
    'second replaced',
    'dead replaced',
  ])
  expect(statesOf(process('dead', 300, 100), process('long', 900, 60), process('new', 50, 5))).toEqual([
    'new ready',
    'dead replaced',
    'long silent',
  ])
})

test('a process whose clock is ahead of that of MongoDB does not replace itself', () => {
  expect(statesOf(process('dead', 60, 61))).toEqual(['dead silent'])
})

test('the list has the order of the services, newest first', () => {
  expect(
    statesOf(
      process('a', 9, 1),
      process('b', 9, 1, { service: 'admin-api' }),
      process('c', 8, 1),
      process('d', 7, 1, { service: 'ingress' }),
    ),
  ).toEqual(['d ready', 'c ready', 'a ready', 'b ready'])
})
