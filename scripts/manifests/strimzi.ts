import { DOCTOR_RIGHTS, type ProgramRights, RIGHTS } from '@backstop/contracts'
import type { NewTopic } from '@backstop/kit/bus'
import { wantedTopics } from '@backstop/provision'
import { stringify } from 'yaml'

/** The Kafka of the cluster; a patch in the operator's overlay replaces it. */
const CLUSTER = { 'strimzi.io/cluster': 'kafka' }
/** As in overlays/production/settings.env. */
const DURABILITY = { replication: 3, minInsync: 2 }

const HEAD = '# Written by `npm run manifests` from'

/** The KafkaTopics of an installation without a topic prefix. */
export function topicsText(): string {
  const head = `${HEAD} packages/contracts/src/topics.ts.\n`
  return head + wantedTopics('', DURABILITY).map(topicText).join('---\n')
}

/** The KafkaUsers with the rights of each program. */
export function usersText(): string {
  const head = `${HEAD} packages/contracts/src/rights.ts. Each service may do only what it needs.\n`
  return head + Object.entries(RIGHTS).map(userText).join('---\n')
}

function topicText({ name, partitions, replication, config }: NewTopic): string {
  return stringify({
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaTopic',
    metadata: { name, labels: CLUSTER },
    spec: { partitions, replicas: replication, config: Object.fromEntries(Object.entries(config).map(typed)) },
  })
}

/** Numbers and truth values as such, because Strimzi compares them with those of the broker. */
function typed([key, value]: [string, string]): [string, string | number | boolean] {
  if (/^\d+$/.test(value)) return [key, Number(value)]
  return [key, value === 'false' ? false : value]
}

function userText([program, rights]: [string, ProgramRights]): string {
  return stringify(
    {
      apiVersion: 'kafka.strimzi.io/v1',
      kind: 'KafkaUser',
      metadata: { name: `backstop-${program}`, labels: CLUSTER },
      spec: {
        authentication: { type: 'scram-sha-512' },
        authorization: {
          type: 'simple',
          acls: [
            ...rulesOf(rights),
            ...(program === DOCTOR_RIGHTS.program ? DOCTOR_RIGHTS.groups.map(describesGroup) : []),
          ],
        },
      },
    },
    { lineWidth: 0 },
  )
}

const describesGroup = (name: string) => ({
  resource: { type: 'group', name, patternType: 'prefix' },
  operations: ['Describe'],
})

function rulesOf({ kafka: { reads, writes, groups }, provisions }: ProgramRights): object[] {
  const literal = (name: string) => ({ type: 'topic', name, patternType: 'literal' })
  const all = literal('*')
  const group = { type: 'group', name: groups, patternType: 'prefix' }
  return [
    { resource: all, operations: ['Describe', 'DescribeConfigs'] },
    ...(provisions ? [{ resource: all, operations: ['Create', 'Alter'] }] : []),
    ...reads.map(name => ({ resource: literal(name), operations: ['Read'] })),
    ...writes.map(name => ({ resource: literal(name), operations: ['Write'] })),
    ...(groups === undefined ? [] : [{ resource: group, operations: ['Read', 'Describe'] }]),
  ]
}
