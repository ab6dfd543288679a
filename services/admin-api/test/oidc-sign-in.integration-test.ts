import { startMongoApi } from './mongo-test-api.ts'
import { describeOidcSignIn } from './oidc-sign-in.contract.ts'

describeOidcSignIn('MongoDB', startMongoApi)
