import { describeOidcSignIn } from './oidc-sign-in.contract.ts'
import { startMemoryApi } from './test-api.ts'

describeOidcSignIn('memory', startMemoryApi)
