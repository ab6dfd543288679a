import { TOPICS } from '@backstop/contracts'
import type { NewTopic, TopicState } from '@backstop/kit/bus'
import { describe, expect, test } from 'vitest'
import { planTopics, wantedTopics } from './plan-topics.ts'

const wanted: NewTopic = {
  name: 'a.operations',
  partitions: 12,
  replication: 3,
  config: { 'retention.ms': '1000', 'cleanup.policy': 'delete' },
}

function present(changes: Partial<TopicState>): TopicState {
  return { ...wanted, config: { ...wanted.config, 'segment.bytes': '1' }, ...changes }
}

const nothing = { create: [], grow: [], conflicts: [] }

describe('what is to be done about one topic', () => {
  test.each([
    { name: 'it is made when it is not there', existing: [], plan: { ...nothing, create: [wanted] } },
    { name: 'it is left alone when it is as it should be', existing: [present({})], plan: nothing },
    {
      name: 'missing partitions are added',
      existing: [present({ partitions: 6 })],
      plan: { ...nothing, grow: [{ name: wanted.name, from: 6, to: 12 }] },
    },
    { name: 'more partitions are left alone', existing: [present({ partitions: 24 })], plan: nothing },
    { name: 'more copies are left alone', existing: [present({ replication: 5 })], plan: nothing },
    {
      name: 'too few copies are a conflict',
      existing: [present({ replication: 1 })],
      plan: { ...nothing, conflicts: ['a.operations: has 1 copies of each partition, wants 3'] },
    },
    {
      name: 'each other setting is a conflict of its own',
      existing: [present({ config: { 'retention.ms': '5' } })],
      plan: {
        ...nothing,
        conflicts: [
          'a.operations: retention.ms is 5, should be 1000',
          'a.operations: cleanup.policy is unknown, should be delete',
        ],
      },
    },
  ])('$name', ({ existing, plan }) => {
    expect(planTopics([wanted], existing)).toEqual(plan)
  })
})

test('every topic of the contracts is wanted, durable and in its own form', () => {
  const topics = wantedTopics('p.', { replication: 3, minInsync: 2 })
  expect(topics.map(({ name }) => name)).toEqual(Object.keys(TOPICS).map(name => `p.${name}`))
  for (const { config, replication } of topics) {
    expect(replication).toBe(3)
    expect(config).toMatchObject({
      'min.insync.replicas': '2',
      'compression.type': 'producer',
      'unclean.leader.election.enable': 'false',
    })
  }
  const rechecks = topics.find(({ name }) => name === 'p.rechecks')
  expect(rechecks?.config['message.timestamp.type']).toBe('LogAppendTime')
})
