import { createLogger } from '@backstop/kit/logger'
import { describeConnections } from '../src/connections/connections.contract.ts'
import { secretBox } from './connection-documents.ts'
import { createMemoryConnections } from './memory-connections.ts'

describeConnections('memory', async () => {
  const connections = createMemoryConnections({ secretBox, logger: createLogger('test', 'silent') })
  return {
    connections,
    save: async document => connections.save(document),
    remove: async connectionId => connections.remove(connectionId),
    stop: () => connections.stop(),
  }
})
