import { Button, Stack, TextInput } from '@mantine/core'
import { decimalAmount, formatMoney, parseMoney } from '../../format/money.ts'
import { handleSubmit, useFields } from '../form/use-fields.ts'
import { PopoverFilter } from './filter-bar.tsx'

export interface Amounts {
  currency?: string | undefined
  /** In minor units. */
  min_amount?: number | undefined
  max_amount?: number | undefined
}

interface Props {
  value: Amounts
  onChange: (value: Amounts) => void
}

/** A filter by currency and by amounts of that currency: `Amount: EUR 10.00 to 50.00`. */
export function AmountFilter({ value, onChange }: Props) {
  const label = describe(value)
  return (
    <PopoverFilter label={label ?? 'Amount'} isSet={label !== undefined}>
      {close => (
        <AmountForm
          value={value}
          onChange={next => {
            onChange(next)
            close()
          }}
        />
      )}
    </PopoverFilter>
  )
}

function AmountForm({ value, onChange }: Props) {
  const { fields, field } = useFields({
    currency: value.currency?.toUpperCase() ?? '',
    min: majorUnits(value.min_amount, value.currency),
    max: majorUnits(value.max_amount, value.currency),
  })
  const { currency, min, max } = fields
  const code = currency.trim().toLowerCase()
  const isCode = /^[a-z]{3}$/.test(code)
  const isAmount = (text: string) => text.trim() === '' || (isCode && parseMoney(text, code) !== undefined)
  const needsCurrency = (min.trim() !== '' || max.trim() !== '') && !isCode
  const isRight = (code === '' || isCode) && !needsCurrency && isAmount(min) && isAmount(max)
  const apply = () => {
    if (!isRight) return
    onChange({
      currency: code === '' ? undefined : code,
      min_amount: parseMoney(min, code),
      max_amount: parseMoney(max, code),
    })
  }
  const wrong = (text: string) => (needsCurrency || isAmount(text) ? undefined : `Enter an amount in ${currency}`)
  return (
    <form onSubmit={handleSubmit(apply)}>
      <Stack gap="sm">
        <TextInput
          label="Currency"
          placeholder="EUR"
          maxLength={3}
          error={needsCurrency ? 'Enter a currency, such as EUR' : undefined}
          {...field('currency')}
        />
        <TextInput label="At least" error={wrong(min)} {...field('min')} />
        <TextInput label="At most" error={wrong(max)} {...field('max')} />
        <Button type="submit" disabled={!isRight}>
          Apply
        </Button>
        <Button
          variant="default"
          onClick={() => onChange({ currency: undefined, min_amount: undefined, max_amount: undefined })}
        >
          Any amount
        </Button>
      </Stack>
    </form>
  )
}

/** Minor units as the text that a person would type. */
function majorUnits(amount: number | undefined, currency: string | undefined): string {
  return amount === undefined || currency === undefined ? '' : decimalAmount(amount, currency)
}

function describe({ currency, min_amount: min, max_amount: max }: Amounts): string | undefined {
  if (currency === undefined) return undefined
  const money = (amount: number) => formatMoney(amount, currency)
  if (min === undefined && max === undefined) return `Currency: ${currency.toUpperCase()}`
  if (max === undefined) return `Amount: from ${money(min as number)}`
  return min === undefined ? `Amount: up to ${money(max)}` : `Amount: ${money(min)} to ${money(max)}`
}
