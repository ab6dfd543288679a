import type { ICustomerResponse } from '@paddle/paddle-node-sdk'
import { nameOfCustomer } from '../../people.ts'
import { makeId, type ObjectContext, timeAt } from '../object-context.ts'

/** A customer as in the API. */
export type ResellerCustomer = ICustomerResponse

/** What a reseller's account knows of a person. */
export type Person = Pick<ResellerCustomer, 'name' | 'email'>

/** A customer who bought something. @param person a made-up person by default */
export function makeCustomer(context: ObjectContext, person: Partial<Person> = {}): ResellerCustomer {
  const id = makeId('ctm', context)
  const madeAt = timeAt(context.nowMs)
  return {
    id,
    name: nameOfCustomer(id).join(' '),
    // The address follows from the id, so that a customer takes no further random value.
    email: `buyer-${id.slice(-6)}@shop.example`,
    ...person,
    marketing_consent: false,
    status: 'active',
    custom_data: null,
    locale: 'en',
    created_at: madeAt,
    updated_at: madeAt,
    import_meta: null,
  }
}
