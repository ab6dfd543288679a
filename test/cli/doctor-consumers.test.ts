/** Compares the consumers that `backstop doctor` watches with those of the services. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CONSUMERS } from '../../packages/cli/src/doctor/read-infrastructure.ts'
import { TOPICS, type TopicDefinition } from '../../packages/contracts/src/topics.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** A delay line's messages wait on purpose. Its group is named after it. */
function isDelayLine(groupId: string): boolean {
  const topic: TopicDefinition | undefined = TOPICS[groupId.replace(/^\w+\./, '') as keyof typeof TOPICS]
  return topic?.timestampType === 'LogAppendTime'
}

/** It commits nothing, so it has no lag. */
const WITHOUT_OFFSETS = 'reconciler.new-events'

test('doctor watches every consumer group of the services that commits offsets and is no delay line', () => {
  const files = globSync('services/*/src/**/*.ts', { cwd: ROOT })
  const groups = files.flatMap(path =>
    [...readFileSync(ROOT + path, 'utf8').matchAll(/groupId: '([^']+)'/g)].map(([, groupId = '']) => groupId),
  )
  expect(groups).toContain(WITHOUT_OFFSETS)
  expect(
    [...new Set(groups)].filter(groupId => !isDelayLine(groupId) && groupId !== WITHOUT_OFFSETS).toSorted(),
  ).toEqual(Object.keys(CONSUMERS).toSorted())
})
