import { MongoClient } from 'mongodb'

/**
 * The cache size that the targets for stored documents assume. The launcher's default of 0.5 GB is meant for a laptop.
 */
const CACHE_GIB = 2

/** Sets the cache size of the MongoDB that the benchmark started. A MongoDB given by MONGO_URL is not changed. */
export async function setMongoCache(url: string): Promise<void> {
  const client = new MongoClient(url)
  try {
    await client.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${CACHE_GIB}G` })
  } finally {
    await client.close()
  }
}
