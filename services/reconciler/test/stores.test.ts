import { COLLECTIONS } from '@backstop/contracts'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import { openContractStores } from './contract-stores.ts'
import { storeContract } from './store.contract.ts'

storeContract('in the simulated MongoDB', async () => openContractStores(openSimulatedMongo(COLLECTIONS).mongo))
