import classes from './long-text.module.css'

/** Text of another system as it is: its markup is shown and never interpreted. */
export function LongText({
  text,
  dir,
  height = 400,
}: {
  text: string
  dir?: 'auto' | 'ltr'
  height?: number | string
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, also by the keyboard
    <pre className={classes.text} style={{ maxHeight: height }} dir={dir} tabIndex={0}>
      {text}
    </pre>
  )
}
