import { afterAll } from 'vitest'
import { busContract, CONTRACT_TOPICS } from '../../test/bus.contract.ts'
import { type TestStack, testStack } from '../../test/stack.ts'

const stacks: TestStack[] = []
afterAll(() => Promise.all(stacks.map(stack => stack.close())))

busContract('Kafka', async () => {
  const stack = await testStack()
  stacks.push(stack)
  await stack.createTopics(CONTRACT_TOPICS, 2)
  const { admin, topicPrefix } = stack
  return {
    bus: stack.bus(),
    committed: (groupId, topic) => admin.committed(topicPrefix + groupId, topicPrefix + topic),
  }
})
