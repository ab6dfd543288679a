/** Reads how many bytes collections, indexes and topics take on the disk. */
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { COLLECTIONS, TOPICS } from '@backstop/contracts'
import type { Db } from 'mongodb'

/** Bytes by the name of the collection, index or topic. */
export interface Sizes {
  /** Without the blocks that are free for reuse. */
  readonly mongo: Readonly<Record<string, number>>
  /** One copy, without Kafka's indexes. */
  readonly kafka: Readonly<Record<string, number>>
}

/** The parts of $collStats (MongoDB's documentation, "storageStats") that are read here. */
interface StorageStats {
  readonly storageSize: number
  readonly freeStorageSize: number
  readonly indexSizes: Readonly<Record<string, number>>
  readonly indexDetails: Readonly<Record<string, { 'block-manager': { 'file bytes available for reuse': number } }>>
}

/** @param kafkaFolder the `log.dirs` of the only broker */
export async function readSizes(db: Db, kafkaFolder: string, topicPrefix: string): Promise<Sizes> {
  // A checkpoint, because the files have what was written before the last one.
  await db.admin().command({ fsync: 1 })
  const collections = await Promise.all(Object.keys(COLLECTIONS).map(name => collectionSizes(db, name)))
  const topics = Object.keys(TOPICS).map(topic => {
    const segments = globSync(join(kafkaFolder, `${topicPrefix}${topic}-[0-9]*`, '*.log'))
    return [`topic ${topic}`, segments.reduce((sum, file) => sum + statSync(file).size, 0)] as const
  })
  return { mongo: Object.fromEntries(collections.flat()), kafka: Object.fromEntries(topics) }
}

async function collectionSizes(db: Db, name: string): Promise<(readonly [string, number])[]> {
  const [found] = await db
    .collection(name)
    .aggregate<{ storageStats: StorageStats }>([{ $collStats: { storageStats: {} } }])
    .toArray()
  const { storageSize, freeStorageSize, indexSizes, indexDetails } = found!.storageStats
  const indexes = Object.entries(indexSizes).map(([index, bytes]) => {
    const free = indexDetails[index]!['block-manager']['file bytes available for reuse']
    return [`${name}, index ${index}`, bytes - free] as const
  })
  return [[name, storageSize - freeStorageSize], ...indexes]
}
