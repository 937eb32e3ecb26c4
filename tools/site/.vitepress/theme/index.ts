import { defineComponent, h, onBeforeUnmount, onMounted, ref } from 'vue';
import { withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './site.css';

/** An element that runs, on the page that describes it. */
const LiveElement = defineComponent({
  props: { name: { type: String, required: true } },
  setup({ name }) {
    const place = ref<HTMLElement>();
    let remove: (() => void) | undefined;
    onMounted(async () => {
      const { showLive } = await import('../../live.ts');
      if (place.value) remove = showLive(place.value, name, withBase('/'));
    });
    onBeforeUnmount(() => remove?.());
    return () => h('div', { ref: place, class: 'live' });
  },
});

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('LiveElement', LiveElement);
  },
};
