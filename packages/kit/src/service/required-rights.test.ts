import { expect, test } from 'vitest'
import { READ, WRITE } from '../bus/authorized-operations.ts'
import { describeMissingAccess } from './required-rights.ts'

const wanted = {
  topics: ['alerts', 'commands'],
  groups: ['notifier'],
  needed: new Map([
    ['alerts', READ | WRITE],
    ['commands', WRITE],
  ]),
}
const judge = (topics: Record<string, number>, groups: Record<string, number> = { notifier: READ }) =>
  describeMissingAccess(
    wanted,
    { topics: new Map(Object.entries(topics)), groups: new Map(Object.entries(groups)) },
    'user n',
  )

test.each([
  { topics: { alerts: READ | WRITE, commands: WRITE }, access: undefined },
  { topics: { alerts: READ, commands: READ }, access: 'write alerts, commands' },
  { topics: { alerts: 0, commands: WRITE }, access: 'read alerts and write alerts' },
  {
    topics: { alerts: READ | WRITE, commands: WRITE },
    groups: { notifier: 0 },
    access: 'use the consumer group notifier',
  },
  { name: 'an unanswered topic is not judged', topics: { commands: WRITE }, access: undefined },
  { name: 'nor a broker that computes nothing', topics: {}, groups: {}, access: undefined },
])('names the topics and groups that the user may not use: $access $name', ({ topics, groups, access }) => {
  const sentence = access && `Kafka does not let the user n ${access}: give it this right (docs/rights.md)`
  expect(judge(topics as never, groups)).toBe(sentence)
})
