import { describeDeadLetters } from '../dead-letters.contract.ts'
import { describeHealth } from '../health.contract.ts'
import { describeProjectFacts } from '../project-facts.contract.ts'
import { describeStores } from '../store.contract.ts'
import { describeStorms } from '../storms.contract.ts'
import { describeSuppressions } from '../suppressions.contract.ts'
import { createMemoryHealthStore } from './memory-health-store.ts'
import {
  createMemoryChannelStore,
  createMemoryCollections,
  createMemoryDeadLetterStore,
  createMemoryDeliveryStore,
} from './memory-stores.ts'
import { createMemoryStormStore } from './memory-storm-store.ts'
import { createMemorySuppressionStore } from './memory-suppression-store.ts'

describeStores('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    channels: createMemoryChannelStore(collections),
    deliveries: createMemoryDeliveryStore(collections),
    health: createMemoryHealthStore(collections),
    putChannel: async channel => void collections.channels.set(channel._id, channel),
    async putProject(id, name) {
      const at = new Date(0)
      collections.projects.set(id, { _id: id, name, branding: {}, version: 1, created_at: at, updated_at: at })
    },
    putSilence: async silence => void collections.silences.set(silence._id, silence),
    putConnection: async (id, project_id, name) => void collections.connections.set(id, { _id: id, project_id, name }),
    putActor: async (id, project_id, name) => void collections.actors.set(id, { _id: id, project_id, name }),
    delivery: async id => collections.deliveries.get(id),
  }
})

describeDeadLetters('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    deadLetters: createMemoryDeadLetterStore(collections),
    all: async () => [...collections.deadLetters.values()].sort((a, b) => (a._id < b._id ? -1 : 1)),
  }
})

describeSuppressions('in memory', async () => createMemorySuppressionStore(createMemoryCollections()))

describeHealth('in memory', async () => createMemoryHealthStore(createMemoryCollections()))

describeProjectFacts('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    channels: createMemoryChannelStore(collections),
    async put({ channels, projects, suppressions, connections, erased_actions }) {
      for (const one of channels) collections.channels.set(one._id, one)
      for (const one of projects) collections.projects.set(one._id, one)
      for (const one of suppressions) collections.suppressions.set(one._id, one)
      for (const one of connections) collections.connections.set(one._id, one)
      for (const one of erased_actions) collections.erasedActions.set(one._id, one)
    },
  }
})

describeStorms('in memory', async () => {
  const collections = createMemoryCollections()
  return { storms: createMemoryStormStore(collections), members: async () => [...collections.stormMembers.values()] }
})
