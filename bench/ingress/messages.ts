import kafkajs from 'kafkajs'

/** Counts the messages on a topic by its offsets. */
export async function countMessages(brokers: string, topic: string): Promise<number> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.ERROR })
  const admin = kafka.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
}
