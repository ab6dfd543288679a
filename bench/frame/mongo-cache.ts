import { MongoClient } from 'mongodb'

/** What the targets about stored documents are set for; the launcher's own half a gigabyte is meant for a laptop. */
const CACHE_GIB = 2

/** Gives a MongoDB of ours the cache that benchmarks count on. One that was given is its owner's to set. */
export async function setMongoCache(url: string): Promise<void> {
  const client = new MongoClient(url)
  try {
    await client.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${CACHE_GIB}G` })
  } finally {
    await client.close()
  }
}
